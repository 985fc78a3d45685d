# shellcheck shell=bash
# Bookkeeping of scripts/test: runs checks to the end whatever they find, counts the tests that ran in
# them, and sees to it that no process outlives them. Needs say.sh.

CHECK_LINES=()
PASSED=0
FAILED=0

# Everything that a test starts is recognised by the folder for its temporary files: a process of ours has
# it in its environment or works below it. The path is short, because a socket's must be, and open to the
# user that Postgres runs as.
begin_checks() {
    TESTS_FOLDER=$(mktemp -d /tmp/aegis.XXXXXX)
    chmod 1777 "$TESTS_FOLDER"
    CHECKS_LOG=$(mktemp)
    CHECKS_BEGAN=$(now_ms)
    trap 'say_what_failed; clear_checks' EXIT
}

clear_checks() {
    left_over | while read -r pid; do kill -9 "$pid" 2>/dev/null || true; done
    rm -rf "$TESTS_FOLDER" "$CHECKS_LOG"
}

# in_tests_folder COMMAND...: only these processes carry the mark, not the scripts' own helpers.
in_tests_folder() { env "TMPDIR=$TESTS_FOLDER" "$@"; }

# check LABEL COMMAND...: output passes through as it comes and is counted afterwards.
check() {
    local label=$1 began time status mark=ok passed failed
    shift
    say "== $label"
    began=$(now_ms)
    # A subshell of its own outside of any condition: otherwise `set -e` would not hold in the command.
    set +e
    (
        set -e
        "$@"
    ) 2>&1 </dev/null | tee "$CHECKS_LOG"
    status=${PIPESTATUS[0]}
    set -e
    time=$(duration $(($(now_ms) - began)))
    read -r passed failed < <(count_tests "$CHECKS_LOG")
    if [ "$status" -ne 0 ]; then
        mark=FAILED
        complain "error: \"$label\" failed (status $status)"
        # A check that is not made of tests, or whose tests did not even build, is one failure.
        [ "$failed" -gt 0 ] || failed=1
    fi
    PASSED=$((PASSED + passed))
    FAILED=$((FAILED + failed))
    CHECK_LINES+=("$(printf '%-7s %14s  %s' "$mark" "$time" "$label")")
    say "   $time  $label"
}

# count_tests LOG: "PASSED FAILED", from the summaries of nextest and of cargo test.
count_tests() {
    sed 's/\x1b\[[0-9;]*m//g' "$1" | awk '
        / tests? run: |^test result: / {
            for (i = 2; i <= NF; i++) {
                if ($i ~ /^passed/) passed += $(i - 1)
                if ($i ~ /^failed/ || $i ~ /^timed/) failed += $(i - 1)
            }
        }
        END { print passed + 0, failed + 0 }'
}

# The processes of tests that are still there. Linux only: elsewhere there is no /proc to ask.
left_over() {
    [ -d /proc/self ] || return 0
    # Both fail on processes that end meanwhile, which is no failure.
    {
        grep -lzx "TMPDIR=$TESTS_FOLDER" /proc/[0-9]*/environ || true
        find /proc/[0-9]*/cwd -maxdepth 0 -lname "$TESTS_FOLDER*" || true
    } 2>/dev/null | cut -d / -f 3 | sort -un
}

# A process that was told to end may take a moment; after five seconds it was not going to.
nothing_left_running() {
    local tries=50
    while [ -n "$(left_over)" ] && [ "$tries" -gt 0 ]; do
        tries=$((tries - 1))
        sleep 0.1
    done
    [ -n "$(left_over)" ] || return 0
    complain "tests left these processes:"
    left_over | while read -r pid; do
        complain "  $pid $(tr '\0' ' ' <"/proc/$pid/cmdline")"
    done
    return 1
}

# The list of checks, and the line that says it all.
end_checks() {
    say "== In $(duration $(($(now_ms) - CHECKS_BEGAN)))"
    printf '%s\n' "${CHECK_LINES[@]}"
    say "$PASSED passed, $FAILED failed"
    [ "$FAILED" -eq 0 ]
}
