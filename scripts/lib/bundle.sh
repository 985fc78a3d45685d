# shellcheck shell=bash
# The browser's half of the lab in target/site: wasm, bindings, stylesheet, precompressed. Skipped as a
# whole while nothing that it is made of has changed, because even an idle cargo takes its time.
# Needs say.sh, packages.sh, wasm.sh, CACHE and ROOT.

SITE=$ROOT/target/site
# Its time says when the sources were last read, its content which compiler made the page.
PAGE_STAMP=$ROOT/target/site.stamp
BINARYEN_VERSION=132.0.0

page_is_fresh() {
    local changed
    [ -e "$SITE/pkg/aegis.wasm.br" ] && [ -e "$PAGE_STAMP" ] || return 1
    [ "$(cat "$PAGE_STAMP")" = "${AEGIS_WASM_TOOLCHAIN:-any}" ] || return 1
    # Folders count too: a deleted file changes only its folder's time.
    changed=$(find Cargo.toml Cargo.lock .cargo app frontend locks style scripts/bundle scripts/lib/bundle.sh \
        -newer "$PAGE_STAMP" | head -n 1)
    [ -z "$changed" ]
}

# The whole job: nothing, or a compiler and then the page.
make_page() {
    if page_is_fresh; then
        say "== The page: nothing has changed"
        return
    fi
    step "A compiler for wasm" get_wasm_toolchain
    step "The page" build_page
}

build_page() {
    local wasm_opt=()
    rm -f "$PAGE_STAMP"
    mkdir -p "$ROOT/target"
    printf '%s' "${AEGIS_WASM_TOOLCHAIN:-any}" >"$PAGE_STAMP.new"
    wasm_cargo build -p frontend --profile wasm-release --locked
    find_wasm_opt && wasm_opt=(--wasm-opt "$WASM_OPT")
    say "   packing it (the first time the tool for that is built)"
    cargo run --release --locked -q -p bundle -- \
        --wasm "$ROOT/target/wasm/$WASM_TARGET/wasm-release/frontend.wasm" \
        --style style/main.css --assets style/static --out "$SITE" \
        ${wasm_opt[@]+"${wasm_opt[@]}"}
    mv "$PAGE_STAMP.new" "$PAGE_STAMP"
}

# Sets WASM_OPT: npm's, else the machine's own if it is no older. An old one may go through today's module without
# a word and leave one that no browser starts (108 does). It only makes the page smaller, so not having it is not a
# failure.
find_wasm_opt() {
    local folder=$CACHE/binaryen-$BINARYEN_VERSION
    WASM_OPT=$folder/node_modules/.bin/wasm-opt
    if have npm; then
        [ -x "$WASM_OPT" ] && return
        say "   fetching wasm-opt (npm's binaryen)"
        mkdir -p "$folder"
        within 120 npm install --prefix "$folder" --no-audit --no-fund --ignore-scripts \
            "binaryen@$BINARYEN_VERSION" >/dev/null 2>&1 </dev/null && [ -x "$WASM_OPT" ] && return
    fi
    WASM_OPT=$(command -v wasm-opt) && is_new_wasm_opt "$WASM_OPT" && return
    say "   no wasm-opt $BINARYEN_VERSION or newer to be had: the page works, but takes longer to load"
    return 1
}

# is_new_wasm_opt PROGRAM: it calls itself "wasm-opt version N", perhaps with more behind it.
is_new_wasm_opt() {
    [[ $("$1" --version 2>/dev/null) =~ version\ ([0-9]+) ]] && [ "${BASH_REMATCH[1]}" -ge "${BINARYEN_VERSION%%.*}" ]
}
