#!/bin/sh
# run.sh DEADHEAT OBJECTS - `deadheat static` as a user calls it, and field builds: every form of output, every
# error, archives, autotools, C++.
#
# Two kinds of input: tables that static-sample makes, which hold what the forms have to show; and programs that
# are built here and analysed.
. "$(dirname "$0")/../lib.sh"
sample=$2/tests/cli/static/static-sample

run() { # ARGUMENTS: sets status, fills out and err
    within 60 "$deadheat" static "$@" >out 2>err
    status=$?
}
refused() { # NAME WORDS ARGUMENTS: status 2, nothing printed, one line of complaint
    name=$1 words=$2
    shift 2
    run "$@"
    if [ $status = 2 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$words" err; then
        ok "$name"
    else
        bad "$name" "status $status, $(head -3 err | tr '\n' '|')"
    fi
}
json() { # PYTHON: d is what was printed
    python3 -c "import json
d = json.load(open('out'))
$1"
}

cd "$work" || exit 1
cp "$here/queue.c" . || exit 1
mkdir bin
ln -s "$deadheat" bin/deadheat-cc
ln -s "$deadheat" bin/deadheat-c++

. "$here/forms.sh"
. "$here/builds.sh"
. "$here/input.sh"
. "$here/page.sh"
. "$here/source.sh"
exit $failed
