# shellcheck shell=bash
# axe-core, which looks for what keeps people out of a page: npm's package of exactly this version, fetched once.
# Needs say.sh, packages.sh and CACHE.

AXE_VERSION=4.14.1
AXE=$CACHE/axe-core-$AXE_VERSION/node_modules/axe-core/axe.min.js

need_npm() {
    [ -e "$AXE" ] || have npm || need npm node
}

# Without it a check of every page would be left out, so not having it is a failure.
get_axe() {
    [ -e "$AXE" ] && return
    say "   fetching npm's axe-core $AXE_VERSION"
    mkdir -p "$CACHE/axe-core-$AXE_VERSION"
    quietly within 120 npm install --prefix "$CACHE/axe-core-$AXE_VERSION" --no-audit --no-fund --ignore-scripts \
        "axe-core@$AXE_VERSION"
    [ -e "$AXE" ]
}
