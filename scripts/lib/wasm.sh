# shellcheck shell=bash
# A compiler for wasm32-unknown-unknown: the one that is here, else rustup's target, else Debian's (see
# wasm-debian.sh). `AEGIS_WASM_TOOLCHAIN` may be `rustup` or `debian` to allow only that one.
# Needs say.sh, packages.sh, wasm-debian.sh and CACHE.

WASM_TARGET=wasm32-unknown-unknown

# Set by `get_wasm_toolchain`: which toolchain, and what cargo needs in its environment to use it.
WASM_KIND=
WASM_ENV=()

# has_wasm_library RUSTC: can this compiler link for wasm?
has_wasm_library() {
    local folder found
    folder=$("$1" --print target-libdir --target "$WASM_TARGET" 2>/dev/null) || return 1
    for found in "$folder"/libstd-*.rlib; do
        [ -e "$found" ] && return
    done
    return 1
}

get_wasm_toolchain() {
    case ${AEGIS_WASM_TOOLCHAIN:-any} in
    any | rustup | debian) ;;
    *) die "AEGIS_WASM_TOOLCHAIN is \"$AEGIS_WASM_TOOLCHAIN\"; it may be rustup or debian" ;;
    esac
    if [ "${AEGIS_WASM_TOOLCHAIN:-any}" != debian ]; then
        use_own_rustc && return
        [ "${AEGIS_WASM_TOOLCHAIN:-any}" = any ] || die "rustup target add $WASM_TARGET did not work"
    fi
    get_debian_toolchain
    WASM_KIND=debian
    WASM_ENV=("RUSTC=$DEBIAN_RUST/usr/bin/rustc" "LD_LIBRARY_PATH=$(debian_libraries)")
}

use_own_rustc() {
    if ! has_wasm_library rustc; then
        have rustup || return 1
        say "   rustup target add $WASM_TARGET"
        if ! within 60 rustup target add "$WASM_TARGET" >/dev/null 2>&1 </dev/null; then
            say "   rustup could not fetch it: falling back on Debian's compiler"
            return 1
        fi
        has_wasm_library rustc || return 1
    fi
    WASM_KIND=rustup
    WASM_ENV=()
}

# wasm_cargo SUBCOMMAND ...: cargo with that toolchain. Its target folder is its own, because the
# compiler may be another than the server's, and one folder for both would rebuild everything each time.
wasm_cargo() {
    local subcommand=$1 cargo=(cargo)
    shift
    # Clippy belongs to one compiler: Debian's to Debian's.
    if [ "$WASM_KIND" = debian ] && [ "$subcommand" = clippy ]; then
        cargo=("$DEBIAN_RUST/usr/bin/cargo-clippy")
    fi
    env ${WASM_ENV[@]+"${WASM_ENV[@]}"} "${cargo[@]}" "$subcommand" \
        --target "$WASM_TARGET" --target-dir "$ROOT/target/wasm" "$@"
}
