#!/bin/sh
# The compiler driver as build systems use it: run.sh DEADHEAT BUILDDIR
#
# DEADHEAT is the program, in a tree whose lib/deadheat holds the plugin and the runtime (or DEADHEAT_LIBDIR
# names that directory). Prints "ok NAME" or "FAIL NAME: why" for each case.
set -u
deadheat=$(readlink -f "$1")
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2/tests-cli-cc"
work=$(cd "$2/tests-cli-cc" && pwd)
rm -rf "${work:?}"/*
cd "$work" || exit 1
mkdir bin
ln -s "$deadheat" bin/deadheat-cc
ln -s "$deadheat" bin/deadheat-c++
cc=$work/bin/deadheat-cc
cxx=$work/bin/deadheat-c++
status=0

# case_ NAME COMMAND...: the command must succeed and say nothing on standard error.
case_() {
    name=$1
    shift
    if "$@" > out 2> err && [ ! -s err ]; then
        echo "ok cc/$name"
    else
        echo "FAIL cc/$name: $(cat out err | head -1)"
        status=1
    fi
}

# refused NAME WORDS COMMAND...: the command must fail with status 1 and one line that contains WORDS.
refused() {
    name=$1 words=$2
    shift 2
    "$@" > out 2> err
    code=$?
    if [ $code = 2 ] && [ "$(wc -l < err)" = 1 ] && grep -q -- "$words" err && [ ! -s out ]; then
        echo "ok cc/$name"
    else
        echo "FAIL cc/$name: status $code, $(head -1 err)"
        status=1
    fi
}

prints() { # TEXT COMMAND...: the command's output is exactly TEXT
    text=$1
    shift
    [ "$("$@")" = "$text" ]
}

instrumented() { # OBJECT...: refers to the runtime
    for object; do nm "$object" | grep -q ' U __dh_' || { echo "$object is not instrumented"; return 1; }; done
}

. "$here/cases.sh"
. "$here/buildsystems.sh"
exit $status
