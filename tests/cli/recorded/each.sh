#!/bin/sh
# each.sh NAME PROGRAM ARGUMENTS... - a program of tests/programs, run, recorded, and analysed as source: are its races told alike?
#
# For program-runner --with, in whose scratch directory it works: DEADHEAT_OPTIONS, SOURCES and FLAGS are the program's.
set -u
here=$(cd "$(dirname "$0")" && pwd)
name=$1
shift

"$DEADHEAT" run --report=0 --output=run.jsonl -- "$@" >out 2>run.err
"$DEADHEAT" report --all --format=json run.jsonl >run.json 2>err
"$DEADHEAT" report --all run.jsonl >run.txt 2>err

programs=$(cd "$here/../../programs" && pwd)
# shellcheck disable=SC2046,SC2086 # options and files are several
analyze_source() {
    set -- --style=sound -w -DDH_RACE=1 -I"$programs" -I"$programs/../../include" \
        $(echo "$FLAGS" | tr ' ' '\n' | grep -v '^--dh-') $SOURCES
    "$DEADHEAT" static --format=json "$@" >static.json 2>err
    "$DEADHEAT" static "$@" >static.txt 2>err
}

# Another detector is one of `analyze`. What is sampled is not recorded: a recording is of all.
detector=$(echo "$DEADHEAT_OPTIONS" | sed -n 's/.*detector=\([a-z]*\).*/\1/p')
recorded=$(echo "$DEADHEAT_OPTIONS" | sed 's/\(sample\|detector\)=[^:]*//')
record() {
    DEADHEAT_OPTIONS=$recorded "$DEADHEAT" record --quiet -o program.dht -- "$@" >out 2>record.err
    set -- --detector="${detector:-fasttrack}" --all --list=events --limit=0 program.dht
    DEADHEAT_OPTIONS='' "$DEADHEAT" analyze --format=json "$@" >analyze.json 2>err
    DEADHEAT_OPTIONS='' "$DEADHEAT" analyze "$@" >analyze.txt 2>err
}

(unset DEADHEAT_OPTIONS && analyze_source)
# Nothing orders accesses that race, so in a recording they may stand in an order in which another race is the first one, or an
# access comes before its memory was allocated. One of three must agree.
for _ in 1 2 3; do
    record "$@"
    python3 "$here/same.py" "$name" >said 2>&1
    status=$?
    [ "$status" -eq 0 ] && break
done
cat said
exit "$status"
