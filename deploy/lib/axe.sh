# shellcheck shell=bash
# axe-core, the rules of accessibility that the browser tests hold the dashboard to. It comes in a package of PyPI's.
# To be sourced, in the checkout's root.

# Prints the path of axe.min.js; fails, with the reason on standard error, where it cannot be had.
fetch_axe() {
    local package=axe-playwright-python==0.1.8 directory=.build/axe
    if [[ ! -s $directory/axe.min.js ]]; then
        mkdir -p "$directory"
        timeout 60 python3 -m pip download --quiet --no-deps --disable-pip-version-check --dest "$directory" \
            "$package" >&2 || return 1
        python3 -m zipfile -e "$directory"/*.whl "$directory/unpacked" || return 1
        mv "$directory/unpacked/axe_playwright_python/axe.min.js" "$directory/axe.min.js" || return 1
    fi
    echo "$PWD/$directory/axe.min.js"
}
