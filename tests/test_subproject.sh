#!/bin/sh
# Builds and tests tests/subproject_user, which uses this tree as a Meson subproject: where neither
# cmocka nor libpng can be found, and nothing of harray may be built but what is used.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cp -R "$root/tests/subproject_user" "$folder/user"
mkdir "$folder/user/subprojects"
ln -s "$root" "$folder/user/subprojects/harray"
cd "$folder"
PKG_CONFIG_LIBDIR=/nonexistent meson setup user build --wrap-mode=nofallback \
    --force-fallback-for=harray,harray-linked
meson test -C build
