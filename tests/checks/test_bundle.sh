#!/bin/sh
# The one-file harray.h that tools/bundle makes: it has to be the tree's, preprocessed to the same
# text and the same macros in C and C++, and tests that are compiled with it have to pass. TAP.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

quick=cc
! command -v clang >/dev/null || quick=clang # it compiles in half of gcc's time

count=0
failed=0
result() { # NAME EXIT-STATUS, with what was said in $folder/log
    count=$((count + 1))
    if [ "$2" = 0 ]; then
        echo "ok $count - $1"
    else
        echo "not ok $count - $1"
        sed 's/^/# /' "$folder/log" | tail -n 20
        failed=1
    fi
}

# A tree with the bundle in the place of harray.h, and without the implementation's files. Tests of
# a backend include that alone, so these headers are there.
mkdir "$folder/examples"
cp -R backends harray layout tests "$folder"
cp -R examples/device "$folder/examples"
cp harray.h "$folder/before.h"
tools/bundle "$folder/harray.h" || exit

(cd / && "$root/tools/bundle") | cmp - "$folder/harray.h" >"$folder/log" 2>&1
result "made again, from elsewhere, it is the same" $?
! grep -n '^ *# *include *"' "$folder/harray.h" >"$folder/log"
result "it includes no file but the system's" $?

# In the repository it would be written over what it is made of.
! tools/bundle harray.h 2>"$folder/log" && ! tools/bundle --layout "$root/layout.h" 2>>"$folder/log" &&
    [ "$(grep -c "give another folder" "$folder/log")" = 2 ] &&
    cmp -s harray.h "$folder/before.h"
result "it is not written over its source" $?

# What is no option is no file either.
mkdir "$folder/empty"
(cd "$folder/empty" && ! "$root/tools/bundle" --foo && ! "$root/tools/bundle" -l &&
    ! "$root/tools/bundle" --layout --records) >"$folder/log" 2>&1 &&
    [ "$(grep -c "^usage:" "$folder/log")" = 3 ] && [ -z "$(ls "$folder/empty")" ]
result "an option that is none" $?

# Layouts alone, as one file: it compiles where nothing else of harray is, and works.
mkdir "$folder/layouts"
tools/bundle --layout "$folder/layouts/layout.h" || exit
cp tests/compile/layout*.[ch] "$folder/layouts"
(cd "$folder/layouts" && $quick -std=c11 -Wall -Wextra -Werror -I. layout.c layout_main.c -o program -lm &&
    ./program) >"$folder/log" 2>&1
result "layouts as one file" $?

# Kernels as one file, with all that they are made of.
mkdir "$folder/kernels"
tools/bundle --kernels "$folder/kernels/harray_kernels.h" || exit
{
    echo '#define HARRAY_IMPLEMENTATION'
    echo '#include "harray_kernels.h"'
    echo 'HA_KERNEL(twice, ((inout, float, x)), i, { x[i] *= 2; });'
    echo 'int main(void) { return twice(ha_host(), 0, (harray_float){0}) == HA_OK; }'
} >"$folder/kernels/main.c"
(cd "$folder/kernels" && cc -std=c11 -Wall -Wextra -Werror -DHARRAY_STATIC -fsyntax-only main.c) >"$folder/log" 2>&1
result "kernels as one file" $?

tools/bundle --ops "$folder/kernels/harray_ops.h" || exit
{
    echo '#define HARRAY_IMPLEMENTATION'
    echo '#include "harray_ops.h"'
    echo 'int main(void) { return ha_axpy((harray_float){0}, 2, (harray_float){0}, NULL) == HA_OK; }'
} >"$folder/kernels/main.c"
(cd "$folder/kernels" && cc -std=c11 -Wall -Wextra -Werror -DHARRAY_STATIC -fsyntax-only main.c) >"$folder/log" 2>&1
result "operations as one file" $?

# preprocess INCLUDE-FOLDER COMPILER-AND-FLAGS SOURCE: the text without empty lines, then all macros
preprocess() {
    # shellcheck disable=SC2086 # lists of words
    $2 -I"$1" -E -P "$3" >"$folder/text" && $2 -I"$1" -E -dM "$3" >"$folder/macros" &&
        grep -v '^[[:space:]]*$' "$folder/text" && sort "$folder/macros"
}

# same COMPILER-AND-FLAGS SOURCE
same() {
    command -v "${1%% *}" >/dev/null || return
    preprocess "$root" "$1" "$2" >"$folder/tree.i" 2>"$folder/log" &&
        preprocess "$folder" "$1" "$2" >"$folder/bundle.i" 2>>"$folder/log" &&
        cmp "$folder/tree.i" "$folder/bundle.i" >>"$folder/log" 2>&1
    result "the same text and macros: $1 $2" $?
}
for compiler in gcc clang; do
    same "$compiler -std=c11" tests/compile/user.c
    same "$compiler -std=c11" tests/compile/main.c
    same "$compiler -std=c11 -DHARRAY_DEBUG" tests/compile/main.c
    same "$compiler -std=c11 -DHARRAY_PREFIX=mylib_ -DHARRAY_EXPORT" tests/compile/main.c
done
same "g++ -x c++ -std=c++17" tests/compile/user.c
same "clang++ -x c++ -std=c++17" tests/compile/user.c

export HARRAY_SCHEDULES=100 HARRAY_FUZZ_OPS=1000 HARRAY_TEST_STRIDE=10 OCL_ICD_VENDORS=/nowhere # a few
# The text is the same for all: so on the matrix, and a backend without the engine.
for source in tests/arrays/cases_coherence.c tests/backends/test_sim.c; do
    name=$(basename "$source" .c)
    # shellcheck disable=SC2046,SC2086 # lists of words
    $quick -std=c11 -Wall -Wextra -Wpedantic -Werror -O0 -pthread "$folder/$source" -o "$folder/$name" \
        $(pkg-config --cflags --libs cmocka) >"$folder/log" 2>&1 &&
        "$folder/$name" >"$folder/log" 2>&1
    result "$name, compiled with it" $?
done

echo "1..$count"
exit $failed
