#!/bin/sh
# validate_package.sh - the Debian packages: built, looked over by lintian, unpacked elsewhere and used from there. Skips, and says so,
# where dpkg-buildpackage, debhelper or lintian is not installed. The tests are not run again (nocheck).
set -e
for tool in dpkg-buildpackage dh lintian; do
    command -v $tool >/dev/null || { echo "skipped: no $tool (Debian's dpkg-dev, debhelper, lintian)"; exit 0; }
done
to=$(mktemp -d) top=$(pwd)
trap 'rm -rf "$to"' EXIT
unset MAKEFLAGS MAKELEVEL
mkdir "$to/fabricast"
git ls-files | tar c -T - | tar x -C "$to/fabricast"
cd "$to/fabricast"
DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" dpkg-buildpackage -us -uc -b >"$to/log" 2>&1 || { tail -n 20 "$to/log"; exit 1; }
lintian --fail-on error "$to"/*.changes 2>/dev/null || { echo "lintian finds errors"; exit 1; }
for package in "$to"/*.deb; do dpkg-deb -x "$package" "$to/root"; done
cd "$to"
lib=$(dirname root/usr/lib/*/libfabricast.so.0)
root/usr/bin/fabricast --version | grep -q 'recorders  *[A-Z]' || { echo "the installed program finds no recorder"; exit 1; }
root/usr/bin/fabricast predict -m bgl-64 -p stencil3d:bytes=64KiB >answer.txt
cc -std=c17 "$top/examples/c/predict.c" -Iroot/usr/include -L"$lib" -lfabricast -o predict
LD_LIBRARY_PATH=$lib ./predict bgl-64 stencil3d:bytes=64KiB
for page in root/usr/share/man/man1/*.1.gz; do man --warnings -l "$page" 2>&1 >/dev/null; done
echo "packages: $(ls "$to"/*.deb | wc -l), lintian without errors"
