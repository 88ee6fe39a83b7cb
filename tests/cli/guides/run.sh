#!/bin/sh
# run.sh DEADHEAT - every command in docs/guide is run, and what the guide shows of its output is compared: guide.py. The guides'
# own files are in examples/.
. "$(dirname "$0")/../lib.sh"
root=$(cd "$here/../../.." && pwd)
for guide in "$root"/docs/guide/*.md; do
    name=$(basename "$guide" .md)
    mkdir "$work/$name" && cp -r "$root/examples" "$work/$name" || exit 1
    if (cd "$work/$name" && PATH=$(dirname "$deadheat"):$PATH python3 "$here/guide.py" "$guide") >"$work/why" 2>&1; then
        ok "$name"
    else
        bad "$name" "$(head -30 "$work/why" | tr '\n' '|')"
    fi
done
exit $failed
