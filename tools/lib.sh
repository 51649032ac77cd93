# Shell functions that the tools share. Sourced from the repository's root.
# shellcheck shell=sh

started=$(date +%s)

# Says what is being done, with the seconds since the start.
say() { printf '[%4ds] %s\n' "$(($(date +%s) - started))" "$*"; }

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# Runs a command that only asks whether something works.
works() { "$@" >/dev/null 2>&1; }

# links COMPILER FLAG...: nonzero exit status when it cannot make a program with these flags.
links() {
    compiler=$1
    shift
    echo '#include <stdio.h>
    int main(void) { return puts("") < 0; }' |
        works "$compiler" -x c - "$@" -o /dev/null
}

# Remembers Debian packages as missing; see install_missing.
missing=
lacks() {
    for package; do
        case "$missing " in
        *" $package "*) ;;
        *) missing="$missing $package" ;;
        esac
    done
}

# Installs what lacks() was told of, or says what to install and exits.
install_missing() {
    [ -n "$missing" ] || return 0
    as_root=
    can_install=yes
    have apt-get || can_install=no
    if [ "$(id -u)" != 0 ]; then
        as_root=sudo
        # without a terminal nobody can type sudo's password
        { have sudo && { [ -t 0 ] || works sudo -n true; }; } || can_install=no
    fi
    [ $can_install = yes ] ||
        fail "Please install these Debian or Ubuntu packages, then try again:$missing"
    say "installing:$missing"
    $as_root apt-get -q update
    # shellcheck disable=SC2086 # a list of words
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install \
        $missing || fail "These packages could not be installed:$missing"
    missing=
}

# What it takes to build and run the library and its example; install_missing comes next.
need_build_tools() {
    links cc || lacks gcc libc6-dev
    have meson || lacks meson
    have ninja || lacks ninja-build
    have pkg-config || lacks pkg-config
    have python3 || lacks python3
    works pkg-config --exists libpng || lacks libpng-dev
}
