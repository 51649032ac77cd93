#!/bin/sh
# Compiles the implementation as one unit and looks at its symbols: all global ones begin with ha_,
# no data that can be written is global, and the names of static data begin with ha_ too.
#
# With gcc and with clang, where they are. TAP.
set -eu
cd "$(dirname "$0")/.."

object=$(mktemp)
trap 'rm -f "$object"' EXIT

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

for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    $compiler -std=c11 -O1 -I. -pthread -c backends/backends.c -o "$object"
    symbols=$(nm --defined-only "$object")
    [ -n "$symbols" ]
    # the second field of nm: upper case is global; b and d are data that can be written. Gcc calls
    # the static data of functions name.1 and so on.
    result "$compiler: global symbols begin with ha_" \
        "$(echo "$symbols" | awk '$2 ~ /[A-Z]/ && $3 !~ /^ha_/')"
    result "$compiler: no global data can be written" \
        "$(echo "$symbols" | awk '$2 ~ /[BCDGS]/')"
    result "$compiler: static data begins with ha_" \
        "$(echo "$symbols" | awk '$2 ~ /[bdgs]/ && $3 !~ /^ha_|\.[0-9]+$/')"
done
echo "1..$count"
exit $failed
