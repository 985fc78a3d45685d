# shellcheck shell=bash
# Finds the programs that the lab needs and installs the missing ones: by apt on Debian and Ubuntu, by
# brew on macOS. Elsewhere, or without the rights to install, it says exactly what to install. It never
# asks for a password and never replaces a program that is there.

# Packages to install, gathered by the `need_*` functions.
MISSING=()

have() { command -v "$1" >/dev/null 2>&1; }

package_manager() {
    if have apt-get; then
        echo apt
    elif have brew; then
        echo brew
    fi
}

# need APT_PACKAGE BREW_PACKAGE: one line of the shopping list.
need() {
    if [ "$(package_manager)" = brew ]; then
        MISSING+=("$2")
    else
        MISSING+=("$1")
    fi
}

# Debian keeps `postgres` and `initdb` out of the PATH, one folder a version; brew does so for its
# numbered versions.
have_postgres_program() {
    local found
    have "$1" && return
    for found in /usr/lib/postgresql/*/bin/"$1" /opt/homebrew/opt/postgresql@*/bin/"$1" \
        /usr/local/opt/postgresql@*/bin/"$1"; do
        [ -x "$found" ] && return
    done
    return 1
}

need_stores() {
    if ! have_postgres_program postgres || ! have_postgres_program initdb; then
        need postgresql postgresql@17
    fi
    have redis-server || have valkey-server || need redis-server redis
}

# A linker is all that the crates need from the system: no library of its own is linked.
need_compiler() {
    have cargo || die "Rust is missing. Install it with rustup (https://rustup.rs) and run this again."
    have cc || need build-essential gcc
}

need_browser() {
    have chromium || have chromium-browser || have google-chrome ||
        [ -d "/Applications/Google Chrome.app" ] || need chromium google-chrome
    have chromedriver || need chromium-driver chromedriver
}

need_checkers() {
    have shellcheck || need shellcheck shellcheck
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo -n "$@"
    fi
}

can_be_root() {
    [ "$(id -u)" -eq 0 ] || { have sudo && sudo -n true 2>/dev/null; }
}

# apt_install PACKAGE...: with the lists as they are, and once more with fresh ones.
apt_install() {
    local install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends)
    as_root "${install[@]}" "$@" >/dev/null 2>&1 </dev/null && return
    quietly as_root apt-get update
    quietly as_root "${install[@]}" "$@"
}

# Installs what the `need_*` functions found missing; takes no time when that is nothing.
install_missing() {
    [ ${#MISSING[@]} -gt 0 ] || return 0
    case $(package_manager) in
    apt)
        can_be_root ||
            die "these packages are missing, and installing them needs root: ${MISSING[*]}
  sudo apt-get install ${MISSING[*]}"
        say "   by apt: ${MISSING[*]}"
        apt_install "${MISSING[@]}"
        ;;
    brew)
        say "   by brew: ${MISSING[*]}"
        quietly brew install "${MISSING[@]}"
        ;;
    *)
        die "neither apt nor brew is here. Install what these Debian packages hold: ${MISSING[*]}"
        ;;
    esac
    MISSING=()
}
