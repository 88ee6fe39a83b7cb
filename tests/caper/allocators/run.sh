#!/bin/sh
# run.sh DEADHEAT - programs of ../escape with an allocator that is not glibc's: jemalloc, linked and preloaded. The lines that are
# marked there must be the ones that have escaped here, too (judge.py).
set -u
escape=$(cd "$(dirname "$0")/../escape" && pwd)
deadheat=$(readlink -f "${DEADHEAT:-$1}")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset DEADHEAT_OPTIONS
failed=0
programs="list.c allocated_odd.c end_pointer.c realloc_contents.c cxx_vector.cpp"

if ! echo 'int main(void) { return 0; }' | clang-19 -x c - -ljemalloc -o "$work/probe" 2>/dev/null; then
    echo "skip allocators/jemalloc: it is not installed"
    exit 0
fi

# A library that every program has beside it: it does not go on without jemalloc, which has a function that others have not.
cat >"$work/which.c" <<'EOF'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
__attribute__((constructor)) static void which(void)
{
    if (!dlsym(RTLD_DEFAULT, "mallctl"))
        abort();
}
EOF
clang-19 -fPIC -shared "$work/which.c" -o "$work/libwhich.so" || exit 1

try() { # WAY SOURCE NAME
    compiler=cc preload=
    [ "${2%.cpp}" != "$2" ] && compiler=c++
    case $1 in
    linked) set -- "$@" -ljemalloc ;;
    preloaded) preload=libjemalloc.so.2 ;;
    esac
    way=$1 source=$2 name=$3
    shift 3
    "$deadheat-$compiler" --dh-mode=caper -g -O1 -pthread -D_GNU_SOURCE "$escape/$source" \
        -Wl,--no-as-needed "$work/libwhich.so" -Wl,-rpath,"$work" "$@" -o "$work/$way/$name" || return
    LD_PRELOAD=$preload within 20 "$deadheat" caper --quiet --state="$work/$way/$name.state" -- "$work/$way/$name" || return
    "$deadheat" caper export --to=filter --state="$work/$way/$name.state" >"$work/$way/$name.tsv"
}

for way in linked preloaded; do
    mkdir "$work/$way"
    judged=
    for source in $programs; do
        if try "$way" "$source" "${source%.*}" >"$work/log" 2>&1; then
            judged="$judged $escape/$source"
        else
            echo "FAIL allocators/$way-${source%.*}: $(head -3 "$work/log" | tr '\n' '|')" && failed=1
        fi
    done
    # shellcheck disable=SC2086 # names are words
    SUITE=allocators/jemalloc-$way python3 "$escape/judge.py" "$work/$way" $judged || failed=1
done
exit $failed
