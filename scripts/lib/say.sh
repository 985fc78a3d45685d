# shellcheck shell=bash
# How the scripts speak: one line when a step begins, one with its time when it ends, and the whole
# output of a quiet command when it fails. Never asks for anything.


say() { printf '%s\n' "$*"; }

complain() { printf '%s\n' "$*" >&2; }

die() {
    complain "error: $*"
    exit 1
}

# Tenths of a second where bash has the finer clock (5 and newer), whole seconds on macOS' bash 3.2.
now_ms() {
    if [ -n "${EPOCHREALTIME:-}" ]; then
        local now=${EPOCHREALTIME/[.,]/}
        printf '%s' "$((now / 1000))"
    else
        printf '%s' "$(($(date +%s) * 1000))"
    fi
}

# duration MS: 830 becomes "0.8 s", 83000 becomes "1 min 23 s".
duration() {
    local ms=$1
    if [ "$ms" -lt 60000 ]; then
        printf '%d.%d s' $((ms / 1000)) $((ms % 1000 / 100))
    else
        printf '%d min %d s' $((ms / 60000)) $((ms / 1000 % 60))
    fi
}

# step LABEL COMMAND...: runs the command in this shell, so that what it sets stays set. A failure ends
# the script by `set -e`; the trap below then names the step. (Calling the command in an `if` would be
# shorter and would switch `set -e` off inside it.)
step() {
    local began
    STEP=$1
    shift
    say "== $STEP"
    began=$(now_ms)
    "$@"
    say "   $(duration $(($(now_ms) - began)))  $STEP"
    STEP=
}

# For `trap ... EXIT`: says which step ended the script.
say_what_failed() {
    local status=$?
    if [ "$status" -ne 0 ] && [ -n "${STEP:-}" ]; then
        complain "error: \"$STEP\" failed (status $status)"
    fi
}

# quietly COMMAND...: shows the output only if the command fails.
quietly() {
    local output status=0
    output=$("$@" 2>&1 </dev/null) || status=$?
    [ "$status" -eq 0 ] || complain "$output"
    return "$status"
}

# within SECONDS COMMAND...: ends a command that takes longer. macOS has no `timeout`, but has perl.
within() {
    if command -v timeout >/dev/null; then
        timeout "$@"
    else
        perl -e 'alarm shift; exec @ARGV' "$@"
    fi
}
