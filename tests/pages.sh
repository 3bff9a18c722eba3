# pages.sh - taken in by the shell of every command of a page (test_cases.c), at the top of the source tree: goes to the
# page's own directory, $TMP/page, as a reader would have it after `make` and `make install prefix=$HOME/.local`.
top=$PWD
HOME=$TMP/home
export HOME
# Open MPI: more ranks than processors, and by root, in containers (4: OMPI_, 5: PRTE_)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe

# MPI leaves memory of its own, for which the checked program would end with 1.
mpirun()
{
    ASAN_OPTIONS=detect_leaks=0 command mpirun "$@"
}

# The installed copy, when a page first asks for it. What is tested is built with sanitizers, so programs that link it
# are too, and Python loads them first.
installed()
{
    built=$(dirname "$(command -v fabricast)")
    (cd "$top" && unset MAKEFLAGS MAKELEVEL && make -s --no-print-directory install-built prefix="$HOME/.local" DESTDIR=/ \
        PROGRAM="$built/fabricast" SHARED_LIB="$built/libfabricast.so.0" PUBLIC_LIB="$built/public/libfabricast.a" \
        MANUAL="$built/man/fabricast.1") >/dev/null || exit 98
    sed -i 's/^Libs:.*/& -fsanitize=address,undefined/' "$HOME/.local/lib/pkgconfig/fabricast.pc"
    mkdir "$HOME/bin"
    printf '#!/bin/sh\nLD_PRELOAD=%s ASAN_OPTIONS=detect_leaks=0 exec %s "$@"\n' "$(cc -print-file-name=libasan.so)" \
        "$(command -v python3)" >"$HOME/bin/python3"
    chmod +x "$HOME/bin/python3"
}

if [ ! -d "$HOME" ]; then
    mkdir "$HOME"
    for folder in docs examples library models traces; do ln -s "$top/$folder" "$TMP/page/$folder"; done
    ! grep -q pkg-config "$PAGE" || installed
fi
PATH=$HOME/bin:$PATH PKG_CONFIG_PATH=$HOME/.local/lib/pkgconfig LD_LIBRARY_PATH=$HOME/.local/lib
export PATH PKG_CONFIG_PATH LD_LIBRARY_PATH
cd "$TMP/page" || exit 99
