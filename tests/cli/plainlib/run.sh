#!/bin/sh
# run.sh DEADHEAT - a plain shared library that makes its locks at their first use: no race is reported inside it, and the
# program's own one is.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit 1
clang-19 -g -shared -fPIC -pthread "$here/library.c" -o libplain.so &&
    "$deadheat" cc -g -O1 -pthread "$here/program.c" -L. -lplain -Wl,-rpath,"$work" -o program ||
    { bad compile "it failed"; exit 1; }
"$deadheat" run --source=0 -- ./program >out 2>err
same status "$?" 66
same races "$(grep WARNING err | sed 's/ (pid.*//')" 'WARNING: deadheat: data race on global `outside`'
exit $failed
