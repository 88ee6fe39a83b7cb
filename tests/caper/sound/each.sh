#!/bin/sh
# each.sh NAME PROGRAM ARGUMENTS... - a program, run once by `deadheat caper`: are its races in dpPairs?
#
# For program-runner --with, in whose scratch directory it works: SOURCES and FLAGS are the program's. Prints what is wrong.
set -u
export LC_ALL=C # one order for sort, comm and static-lines
here=$(cd "$(dirname "$0")" && pwd)
name=$1
shift
# shellcheck disable=SC2086 # sources are several
set -- "$name" "$(set -- $SOURCES && echo "$1")" "$@"
source=$2
directory=$(dirname "$source")
shift 2
unset DEADHEAT_OPTIONS

"$OBJECTS/tests/programs/program-runner" --marks "${BUILD:?}" "$source" >races || exit 1
"$DEADHEAT" caper --quiet --state=state -- "$@" >out 2>err
"$DEADHEAT" caper export --to=pairs --limit=0 --state=state -o pairs.json >out 2>err || { head -3 err && exit 1; }
"$OBJECTS/tests/static/static-lines" pairs "$directory" pairs.json >pairs || exit 1
comm -23 races pairs >missed
sed -n "s,^$name	\([^	]*\)	.*,\1,p" "$here/EXPECTED" | sort >expected
cmp -s missed expected && exit 0
[ "$(cat expected)" = all ] && [ -s missed ] && exit 0
echo "dpPairs lacks '$(tr '\n' ';' <missed)'; EXPECTED says '$(tr '\n' ';' <expected)'"
exit 1
