#!/bin/sh
# Compiles the implementation as one unit and looks at its symbols: all global ones begin with ha_
# or darray_,
# with HARRAY_PREFIX in front where that is defined, no data that can be written is global, and the
# names of static data begin with ha_ too. A shared object with hidden visibility exports none of
# them, with HARRAY_EXPORT what the headers declare.
#
# With gcc and with clang, where they are. TAP.
set -eu
cd "$(dirname "$0")/../.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

count=0
failed=0
result() { # NAME OFFENDERS
    count=$((count + 1))
    if [ -z "$2" ]; then
        echo "ok $count - $1"
    else
        echo "not ok $count - $1"
        echo "$2" | sed 's/^/# /'
        failed=1
    fi
}

# build OUTPUT FLAG...
build() {
    output=$1
    shift
    $compiler -std=c11 -O0 -I. -fPIC -fvisibility=hidden "$@" -c backends/library.c -o "$folder/$output"
}

# exported OBJECT: the names that a shared object made of it exports, one a line. The others of a
# library without any are the linker's own.
exported() {
    $compiler -shared -pthread "$folder/$1" -o "$folder/shared.so"
    nm -D --defined-only "$folder/shared.so" | awk '$3 !~ /^_/ { print $3 }'
}

# declared PREFIX
declared() { sed -n "s/^#define \(.*\) HA_RENAME_(.*/$1\1/p" harray/detail/rename.h layout/detail/rename.h; }

# not_in THESE THOSE: those words of THESE that are not in THOSE
not_in() { printf '%s\n' "$1" | grep -vxF -e "$2" || :; }

with_prefix=mylib_ # what differs with one does not depend on the compiler
for compiler in clang gcc; do
    command -v $compiler >/dev/null || continue
    prefixes=$with_prefix with_prefix=
    for prefix in '' $prefixes; do
        flag=${prefix:+-DHARRAY_PREFIX=$prefix}
        name="$compiler${prefix:+, with prefix}"
        build unit.o ${flag:+"$flag"}
        build export.o -DHARRAY_EXPORT ${flag:+"$flag"}
        symbols=$(nm --defined-only "$folder/unit.o")
        [ -n "$symbols" ]
        # the second field of nm: upper case is global; b and d are data that can be written. Gcc
        # calls the static data of functions name.1 and so on.
        result "$name: global symbols begin with ${prefix}ha_ or ${prefix}darray_" \
            "$(echo "$symbols" | awk '$2 ~ /[A-Z]/ && $3 !~ /^'$prefix'(ha|darray)_/')"
        result "$name: no global data can be written" \
            "$(echo "$symbols" | awk '$2 ~ /[BCDGS]/')"
        result "$name: static data begins with ha_" \
            "$(echo "$symbols" | awk '$2 ~ /[bdgs]/ && $3 !~ /^'$prefix'ha_|^ha_|\.[0-9]+$/')"
        result "$name: what the library uses of itself is in it" \
            "$(nm -u "$folder/unit.o" | grep ha_ || :)"
        result "$name: hidden visibility exports nothing" "$(exported unit.o)"
        result "$name: HARRAY_EXPORT exports what is declared, nothing else" \
            "$(not_in "$(exported export.o)" "$(declared "$prefix")")"
    done
done
echo "1..$count"
exit $failed
