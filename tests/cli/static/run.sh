#!/bin/sh
# run.sh DEADHEAT OBJECTS - `deadheat static` as a user calls it, and field builds: every form of output, every
# error, archives, autotools, C++.
#
# Two kinds of input: tables that static-sample makes, which hold what the forms have to show; and programs that
# are built here and analysed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
deadheat=$(readlink -f "${DEADHEAT:-$1}")
sample=$2/tests/cli/static/static-sample
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset DEADHEAT_OPTIONS
failed=0

ok() { echo "ok cli/static/$1"; }
bad() {
    echo "FAIL cli/static/$1: $2"
    failed=1
}
same() {
    if [ "$2" = "$3" ]; then ok "$1"; else bad "$1" "got '$2', not '$3'"; fi
}
has() { # NAME FILE TEXT
    if grep -qF -- "$3" "$2"; then ok "$1"; else bad "$1" "no '$3' in: $(head -5 "$2" | tr '\n' '|')"; fi
}
lacks() { # NAME FILE TEXT
    if grep -qF -- "$3" "$2"; then bad "$1" "'$3' is in $2"; else ok "$1"; fi
}
run() { # ARGUMENTS: sets status, fills out and err
    timeout -k 2 60 "$deadheat" static "$@" >out 2>err
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
exit $failed
