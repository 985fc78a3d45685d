# shellcheck shell=bash
# What every script begins with: the two folders, and the steps that the scripts share.
# ROOT is the checkout, CACHE holds what is worth keeping between checkouts (compiler, wasm-opt).

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/aegis

# shellcheck source-path=SCRIPTDIR
{
    source "$ROOT/scripts/lib/say.sh"
    source "$ROOT/scripts/lib/packages.sh"
    source "$ROOT/scripts/lib/wasm-debian.sh"
    source "$ROOT/scripts/lib/wasm.sh"
    source "$ROOT/scripts/lib/bundle.sh"
    source "$ROOT/scripts/lib/axe.sh"
}

trap say_what_failed EXIT
