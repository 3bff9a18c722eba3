#!/bin/sh
# installed.sh BUILT - installs what was built (BUILT: obj/test, with the sanitizers) into an empty folder and uses it from
# there as other programs do: fabricast.h and pkg-config by a C program, shared and static, and Python; then uninstalls it.
# Prints what differs from the installed program's own answers, and "done".
set -e
built=$1 to=$(mktemp -d) top=$(pwd)
trap 'rm -rf "$to"' EXIT
install="make -s --no-print-directory install-built prefix=/usr/opt DESTDIR=$to PROGRAM=$built/fabricast
    SHARED_LIB=$built/libfabricast.so.0 PUBLIC_LIB=$built/public/libfabricast.a MANUAL=$built/man/fabricast.1"
unset MAKEFLAGS MAKELEVEL
$install
lib=$to/usr/opt/lib bin=$to/usr/opt/bin/fabricast
find "$to/usr/opt/include" -type f | grep -qx "$to/usr/opt/include/fabricast.h" || echo "other headers are installed"
nm -D --defined-only "$lib/libfabricast.so.0" | awk '$3 !~ /^fabricast_/ { print "shared, not public: " $3 }'
nm --defined-only --extern-only "$lib/libfabricast.a" | awk 'NF == 3 && $3 !~ /^(fabricast_|SCOTCH_error)/ { print "static, not public: " $3 }' |
    head -n 5
nm -D --defined-only "$lib/libfabricast.so.0" | awk '{ print $3 }' | sort >"$to/there"
grep -o 'fabricast_[a-z_]*(' library/fabricast.h | tr -d '(' | sort -u >"$to/promised"
cmp "$to/there" "$to/promised" || true

cd "$to"
cp "$top/examples/c/predict.c" "$top/examples/python/fabricast.py" "$top/tests/installed.py" .
cat >small.yaml <<'END'
name: small
network: {family: torus, dims: [4, 2]}
links: {torus: {bandwidth: 1 GB/s}}
node: {cores: 2}
END
export PKG_CONFIG_PATH="$lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$to" FABRICAST_PROGRAM="$bin" LD_LIBRARY_PATH="$lib"
export UBSAN_OPTIONS=halt_on_error=1
checked="-std=c17 -Wall -Wextra -Werror -fsanitize=address,undefined"
cc $checked predict.c $(pkg-config --cflags --libs fabricast) -o predict
cc $checked predict.c $(pkg-config --cflags fabricast) "$lib/libfabricast.a" \
    $(pkg-config --static --libs fabricast | sed 's/-lfabricast//') -o predict_static
cc -x c++ -fsyntax-only -Wall -Wextra -Werror $(pkg-config --cflags fabricast) "$to/usr/opt/include/fabricast.h"
./predict ./small.yaml stencil2d:bytes=64KiB >shared.txt
FABRICAST_DATA="$to/usr/opt/share/fabricast" ./predict_static ./small.yaml stencil2d:bytes=64KiB >static.txt
cmp shared.txt static.txt || true
[ "$(wc -l <shared.txt)" = 2 ] || echo "the C program printed $(cat shared.txt)"
LD_PRELOAD=$(cc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 python3 installed.py "$top"

cd "$top"
make -s --no-print-directory uninstall prefix=/usr/opt DESTDIR="$to"
find "$to/usr" -type f -o -type l | sed 's/^/left after uninstall: /'
echo done
