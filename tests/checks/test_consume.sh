#!/bin/sh
# Builds and runs each project of examples/consume, which show the ways to use harray, with what is
# copied or installed from here. TAP.
# shellcheck disable=SC2317 # functions are called by try
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit
. tools/lib.sh

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset HARRAY_DEVICE HARRAY_SIM HARRAY_CUDA DESTDIR PKG_CONFIG_PATH CMAKE_PREFIX_PATH
export CFLAGS=-O0 CMAKE_GENERATOR=Ninja
# It is about the ways, so the compiler that takes half of the time does.
! have clang || export CC=clang

count=0
failed=0

# way EXAMPLE TOOL...: makes $folder/EXAMPLE a fresh copy of the project and goes there. When a tool
# is missing: a skipped result, and nonzero exit status.
way() {
    example=$1
    shift
    rm -rf "${folder:?}/$example"
    cp -R "$root/examples/consume/$example" "$folder"
    cd "$folder/$example" || exit
    for tool; do
        have "$tool" && continue
        count=$((count + 1))
        echo "ok $count - $example # SKIP there is no $tool here"
        return 1
    done
}

# try NAME COMMAND...: in a subshell; what it says is shown when it fails
try() {
    name=$1
    shift
    count=$((count + 1))
    if ("$@") >"$folder/log" 2>&1; then
        echo "ok $count - $name"
    else
        echo "not ok $count - $name"
        sed 's/^/# /' "$folder/log" | tail -n 30
        failed=1
    fi
}

# right PROGRAM...: do they print what they should?
right() {
    for program; do
        printed=$("./$program") || return
        echo "$program printed '$printed'"
        [ "$printed" = 9 ] || return
    done
}

# ---- copied ----

# What its Makefile says is copied, and is enough for record arrays and kernels as well.
copied() {
    mkdir harray
    for part in $(grep -o '\.\.\./[A-Za-z_.]*' Makefile); do
        cp -R "$root/${part#.../}" harray || return
    done
    echo '#include "harray_kernels.h"' | cc -std=c11 -Iharray -fsyntax-only -x c - &&
        make CFLAGS=-O0 && right program
}
way copied make && try "copied" copied

# Linked with -static: it runs, and says why there is no GPU. Most libraries crash when such a program
# loads them; this one stands for the driver.
statically() {
    cc -shared -fPIC -x c - -o driver.so <<'END' || return
static _Thread_local int calls;
int cuDriverGetVersion(int *version) { return *version = 13000 + ++calls; }
END
    cc -I"$root" -c harray.c || return
    cc -static -I"$root" main.c harray.o -pthread -o static && right static || return
    sed 's/"sim:0"/"cuda:0"/' main.c >cuda.c && ! cmp -s main.c cuda.c || return
    cc -static -I"$root" cuda.c harray.o -pthread -o cuda || return
    HARRAY_CUDA=library=$PWD/driver.so ./cuda 2>told
    cat told
    grep 'a statically linked program cannot load a driver' told
}
if echo 'int main(void) { return 0; }' | cc -static -x c - -o "$folder/static" 2>/dev/null; then
    way copied && try "static" statically
fi

bundle() {
    "$root/tools/bundle" harray.h && make CFLAGS=-O0 && right program
}
way bundle make && try "bundle" bundle

# Where neither cmocka nor libpng can be found. Of harray nothing is installed, and nothing built
# but what is used.
subproject() {
    mkdir subprojects
    ln -s "$root" subprojects/harray
    PKG_CONFIG_LIBDIR=/nonexistent meson setup build --prefix="$PWD/installed" \
        --wrap-mode=nofallback --force-fallback-for=harray,harray-linked &&
        meson install -C build || return
    [ ! -e installed ] && [ ! -e build/subprojects/harray/libharray.so ] || return
    cd build && right included linked
}
way subproject meson && try "subproject" subproject

cmake_subdirectory() { # OPTION...
    cmake -S . -B build -DHARRAY_SOURCE="$root" "$@" && cmake --build build || return
    cd build && right included linked
}
way cmake cmake && try "cmake: add_subdirectory" cmake_subdirectory &&
    way cmake cmake && try "cmake: add_subdirectory, shared" cmake_subdirectory \
    -DBUILD_SHARED_LIBS=ON

# ---- installed ----

installed=$folder/installed
install_harray() {
    meson setup "$folder/build" "$root" --prefix="$installed" -Dtests=disabled \
        -Dbenchmarks=disabled -Dexamples=disabled && meson install -C "$folder/build"
}
try "meson install" install_harray
libdir=$(dirname "$(find "$installed" -name libharray.so)")

is_shared() { readelf -d "$1" | grep 'NEEDED.*libharray\.so\.'; }

pkg_config() {
    export PKG_CONFIG_PATH="$libdir/pkgconfig" LD_LIBRARY_PATH="$libdir"
    make CFLAGS=-O0 && right included linked && is_shared linked
}
way pkg-config pkg-config make && try "pkg-config" pkg_config

# The static library, in a program and in a shared library, which must not show it.
static() {
    flags=$(PKG_CONFIG_PATH="$libdir/pkgconfig" pkg-config --cflags harray)
    # shellcheck disable=SC2086 # a list of words
    cc main.c $flags "$libdir/libharray.a" -lm -o static && right static || return
    # shellcheck disable=SC2086 # a list of words
    cc -shared -fPIC main.c $flags "$libdir/libharray.a" -lm -o libmain.so || return
    nm libmain.so | grep ' ha_open_' || return
    ! nm -D --defined-only libmain.so | grep ' ha_'
}
way pkg-config pkg-config && try "the static library" static

# What was installed can be moved.
mv "$installed" "$folder/moved"

cmake_installed() {
    cmake -S . -B build -DCMAKE_PREFIX_PATH="$folder/moved" && cmake --build build || return
    cd build && right included linked && is_shared linked
}
way cmake cmake && try "cmake: find_package" cmake_installed

cmake_refused() { # VERSION
    sed "s/harray 0\.1 REQUIRED/harray $1 REQUIRED/" CMakeLists.txt >changed
    mv changed CMakeLists.txt
    ! cmake -S . -B build -DCMAKE_PREFIX_PATH="$folder/moved" 2>said || return
    grep "harrayConfig.cmake, version: 0.1" said
}
for version in 0.0 0.1.999 0.2; do
    way cmake cmake && try "cmake: version $version is another one" cmake_refused $version
done

echo "1..$count"
exit $failed
