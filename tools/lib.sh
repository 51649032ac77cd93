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

# Whether programs find a shared library.
loads() { works python3 -c "import ctypes; ctypes.CDLL('$1')"; }

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

# Whether packages can be installed without a question; as_root is what to do so with.
can_install() {
    as_root=
    have apt-get || return
    [ "$(id -u)" != 0 ] || return 0
    as_root=sudo
    # without a terminal nobody can type sudo's password
    have sudo && { [ -t 0 ] || works sudo -n true; }
}

# install PACKAGE...: $apt_options are apt-get's.
install() {
    # shellcheck disable=SC2086 # a list of words
    $as_root apt-get -q $apt_options update &&
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y $apt_options \
            --no-install-recommends install "$@"
}
apt_options=

# Installs what lacks() was told of, or says what to install and exits.
install_missing() {
    [ -n "$missing" ] || return 0
    can_install ||
        fail "Please install these Debian or Ubuntu packages, then try again:$missing"
    say "installing:$missing"
    # shellcheck disable=SC2086 # a list of words
    install $missing || fail "These packages could not be installed:$missing"
    missing=
}

# The same for what can be done without: then it goes on, soon also where there is no network.
install_wanted() {
    [ -n "$missing" ] || return 0
    say "installing:$missing"
    apt_options="-o Acquire::Retries=0 -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10"
    # shellcheck disable=SC2086 # a list of words
    { can_install && install $missing; } || say "going on without:$missing"
    apt_options=
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

# ---- sanitizers --------------------------------------------------------------------------------------

# ThreadSanitizer ends every program with a pause of a second unless told otherwise.
export TSAN_OPTIONS=atexit_sleep_ms=50
# The search for leaks crashes at times where it reads the thread-local variables of libraries (clang 14): where these
# lie it guesses from what an old C library wrote in front of them, which is likely the reason.
export ASAN_OPTIONS=intercept_tls_get_addr=0

# The sanitizers of older compilers fail at random where the kernel randomises addresses more than
# they know of.
fixed_addresses="setarch $(uname -m) -R"
# shellcheck disable=SC2086 # a list of words
works $fixed_addresses true || fixed_addresses=

# runs_sanitized COMPILER SANITIZERS: does a program start, each time? It is made in the folder $build.
runs_sanitized() {
    # shellcheck disable=SC2154 # of who calls it
    echo 'int main(void) { return 0; }' >"$build/works.c"
    works "$1" "-fsanitize=$2" "$build/works.c" -o "$build/works" || return
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        # shellcheck disable=SC2086 # a list of words, or none
        works $fixed_addresses "$build/works" || return
    done
}
