#!/bin/sh
# each.sh NAME PROGRAM ARGUMENTS... - a program, run once by `deadheat caper`: are its races in dpPairs?
#
# Of a race that is not, the table must say so, with the set that it is in instead: `sp`, in spPairs; `none`, in neither;
# `maybe`, in spPairs or in dpPairs.
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
if ! "$DEADHEAT" caper export --to=pairs --limit=0 --state=state -o pairs.json >out 2>err; then
    head -3 err
    exit 1
fi
"$OBJECTS/tests/static/static-lines" pairs "$directory" pairs.json >pairs || exit 1
comm -23 races pairs >lacking
: >missed
if [ -s lacking ]; then
    "$DEADHEAT" static --style=sound --format=json "$1" >static.json 2>err || { head -3 err; exit 1; }
    "$OBJECTS/tests/static/static-lines" pairs "$directory" static.json >possible || exit 1
    { comm -12 lacking possible | sed 's/$/ sp/'; comm -23 lacking possible | sed 's/$/ none/'; } | sort >missed
fi
sed -n "s,^$name	\([^	]*\)	\([a-z]*\)	.*,\1 \2,p" "$here/EXPECTED" >table
sed -n 's/ maybe$/ sp/p' table | sort >maybe
grep -v ' maybe$' table | sort >expected
comm -23 missed maybe >missed.sure
mv missed.sure missed
cmp -s missed expected && exit 0
echo "dpPairs lacks '$(tr '\n' ';' <missed)'; EXPECTED says '$(tr '\n' ';' <expected)'"
exit 1
