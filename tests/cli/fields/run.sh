#!/bin/sh
# run.sh DEADHEAT - accesses that are tested together (src/ir/groups.c) are reported apart: member, size, kind and line of
# each are its own, in a report and in a recording.
set -u
here=$(cd "$(dirname "$0")" && pwd)
deadheat=${DEADHEAT:-$1}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# One line for each race: what, and of both accesses the size, kind and line.
races_of() {
    awk '/^WARNING/ { if (race) print race; race = $7 }
         /^  (Earlier )?([Ww]rite|[Rr]ead) of / { sub(/^  Earlier /, "  "); kind = tolower($1) " " $3 }
         /^    #0 / && kind { sub(/.*fields.cp*:/, ""); sub(/:.*/, ""); race = race " " kind " line " $0; kind = "" }
         END { if (race) print race }' "$1" | tr -d '`' | sort
}

wanted="mixed.byte write 1 line 33 write 1 line 21
mixed.four read 4 line 31 write 4 line 19
mixed.half write 2 line 32 write 2 line 20
mixed.long_one read 8 line 30 write 8 line 18
mixed.vector write 16 line 34 write 16 line 22"

for flags in -O1 -O2 '-O1 -fPIC'; do
    name=cli/fields/$(echo "$flags" | tr -d ' ')
    # shellcheck disable=SC2086 # a list
    if ! (cd "$work" && "$deadheat" cc -g $flags -pthread "$here/fields.c" -o fields) >"$work/log" 2>&1; then
        echo "FAIL $name: $(head -1 "$work/log")"
        failed=1
        continue
    fi
    "$work/fields" >"$work/log" 2>&1
    got=$(races_of "$work/log")
    if [ "$got" = "$wanted" ]; then
        echo "ok $name"
    else
        echo "FAIL $name: $(echo "$got" | tr '\n' '|')"
        failed=1
    fi
done

# Which of two unordered accesses comes first in a recording is not known; the vector is two events.
wanted="mixed.byte 1 21 33
mixed.four 4 19 31
mixed.half 2 20 32
mixed.long_one 8 18 30
mixed.vector 8 22 34
mixed.vector 8 22 34"
name=cli/fields/recorded
"$deadheat" record -o "$work/fields.dht" -- "$work/fields" >"$work/log" 2>&1
"$deadheat" analyze --detector=fasttrack --stacks=0 "$work/fields.dht" >"$work/log" 2>&1
got=$(sed -n 's|^  \(mixed[^ ]*\) .*/\([0-9]*\): .*fields.c:\([0-9]*\) .*fields.c:\([0-9]*\)$|\1 \2 \3 \4|p' "$work/log" |
    awk '{ print $1, $2, $3 < $4 ? $3 " " $4 : $4 " " $3 }' | sort)
if [ "$got" = "$wanted" ]; then
    echo "ok $name"
else
    echo "FAIL $name: $(echo "$got" | tr '\n' '|')"
    failed=1
fi
exit $failed
