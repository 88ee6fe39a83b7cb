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
# The same from a recording, and with a detector of the laboratory.
"$deadheat" record --quiet -o program.dht -- ./program >out 2>err
"$deadheat" analyze program.dht >out 2>err
same recorded "$?:$(grep -o 'data race on global `[a-z]*`' out | sort -u)" '66:data race on global `outside`'
"$deadheat" run --detector=basicvc --source=0 -- ./program >out 2>err
same lab "$?:$(grep WARNING err | sed 's/ (pid.*//')" '66:WARNING: deadheat: data race on global `outside`'
exit $failed
