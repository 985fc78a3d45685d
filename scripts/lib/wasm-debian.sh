# shellcheck shell=bash
# The wasm compiler where rustup is absent or cannot fetch: Debian's rustc-web and its library sources,
# unpacked into a folder of ours (as packages they conflict with rustup), with std built for wasm once.
# Compiler and library stay a matched pair; nothing touches the system, apart from LLVM's library.
# Needs say.sh, packages.sh, CACHE and WASM_TARGET.

DEBIAN_RUST=$CACHE/rust-web

debian_libraries() {
    local folder
    for folder in "$DEBIAN_RUST"/usr/lib/*-linux-gnu; do
        printf '%s' "$folder"
    done
}

debian_rustc() { LD_LIBRARY_PATH=$(debian_libraries) "$DEBIAN_RUST/usr/bin/rustc" "$@"; }

# The oldest compiler that builds the workspace.
least_rust() { sed -n 's/^rust-version = "\(.*\)"$/\1/p' "$ROOT/Cargo.toml"; }

# is_new_enough VERSION
is_new_enough() {
    [ -n "$1" ] && [ "$(printf '%s\n' "$(least_rust)" "$1" | sort -V | head -n 1)" = "$(least_rust)" ]
}

debian_version() { debian_rustc -V 2>/dev/null | cut -d ' ' -f 2; }

get_debian_toolchain() {
    if [ -e "$DEBIAN_RUST/complete" ] && is_new_enough "$(debian_version)"; then
        return
    fi
    have apt-get || die "no compiler for $WASM_TARGET: \"rustup target add $WASM_TARGET\" does not work
  here, and the fallback needs the apt of Debian or Ubuntu"
    rm -rf "$DEBIAN_RUST"
    mkdir -p "$DEBIAN_RUST"
    say "   unpacking Debian's rustc-web (115 MB to download) into $DEBIAN_RUST"
    unpack_debian_packages
    is_new_enough "$(debian_version)" || die "Debian's compiler here is rustc $(debian_version), and the page needs
  $(least_rust) or newer: is Debian's security archive among apt's sources?"
    link_debian_linker
    say "   building the standard library for $WASM_TARGET, once: about a minute"
    build_debian_library
    touch "$DEBIAN_RUST/complete"
}

# debian_dependency PACKAGE PREFIX: the package that PACKAGE depends on whose name begins with PREFIX.
# Versions are part of these names, so they are asked for rather than written here.
debian_dependency() {
    apt-cache depends "$1" 2>/dev/null | sed -n "s/^ *Depends: \($2[0-9.]*\)\$/\1/p" | head -n 1
}

unpack_debian_packages() {
    local library llvm package
    # The compiler is a moving package: old lists know only one that is too old.
    if can_be_root; then
        quietly as_root apt-get update
    fi
    library=$(debian_dependency libstd-rust-web-dev libstd-rust-web-)
    [ -n "$library" ] || die "apt knows no rustc-web here; it is part of Debian 12 and newer"
    llvm=$(debian_dependency "$library" libllvm)
    (
        cd "$DEBIAN_RUST" || exit
        quietly apt-get download rustc-web "$library" libstd-rust-web-dev rust-web-src rust-web-clippy
        for package in *.deb; do
            dpkg -x "$package" .
            rm "$package"
        done
    )
    dpkg -s "$llvm" >/dev/null 2>&1 || apt_install "$llvm"
}

# rustc looks for its linker beside its own libraries: rustup's does, else Debian's of the same LLVM.
link_debian_linker() {
    local folder linker lld
    folder=$DEBIAN_RUST/usr/lib/rustlib/$(debian_rustc -vV | sed -n 's/^host: //p')/bin
    mkdir -p "$folder"
    for linker in "$(rustc --print sysroot)"/lib/rustlib/*/bin/rust-lld; do
        if [ ! -x "$linker" ]; then
            lld=lld-$(debian_rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
            have "$lld" || apt_install "$lld"
            linker=$(command -v "$lld")
        fi
        ln -sf "$linker" "$folder/rust-lld"
    done
}

# An empty crate built with `-Zbuild-std` leaves the library's rlibs in its deps folder; beside the
# compiler's own they serve every later build as if rustup had brought them.
build_debian_library() {
    local crate=$DEBIAN_RUST/std sources library rlib
    sources=$(echo "$DEBIAN_RUST"/usr/src/rustc-*/library)
    library=$DEBIAN_RUST/usr/lib/rustlib/$WASM_TARGET/lib
    mkdir -p "$crate/src" "$library"
    printf '[package]\nname = "empty"\nedition = "2021"\n[workspace]\n' >"$crate/Cargo.toml"
    printf '#![no_std]\n' >"$crate/src/lib.rs"
    (
        cd "$crate" || exit
        quietly env RUSTC_BOOTSTRAP=1 "__CARGO_TESTS_ONLY_SRC_ROOT=$sources" \
            "RUSTC=$DEBIAN_RUST/usr/bin/rustc" "LD_LIBRARY_PATH=$(debian_libraries)" \
            cargo build --release --target "$WASM_TARGET" --target-dir target \
            -Zbuild-std=std,panic_abort,proc_macro
    )
    for rlib in "$crate/target/$WASM_TARGET/release/deps"/lib*.rlib; do
        case ${rlib##*/} in
        libempty-*) ;;
        *) cp "$rlib" "$library/" ;;
        esac
    done
    rm -rf "$crate" "$DEBIAN_RUST/usr/src"
}
