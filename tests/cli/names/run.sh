#!/bin/sh
# run.sh DEADHEAT - names of what was raced on, from the running program to the report: members of globals, thread-local
# variables, variables on the stack (known by name only when their own thread came second, or waits). One race for each member, one
# for a whole array.
set -u
here=$(cd "$(dirname "$0")" && pwd)
deadheat=${DEADHEAT:-$1}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

wanted="global \`array[0]\`, at the start of \`array\` (256 bytes)
global \`global.first\`, at the start of \`global\` (20 bytes)
global \`global.second[1]\`, 8 bytes into \`global\` (20 bytes)
stack variable \`local.second[3]\` of \`owner\`, 16 bytes into \`local\` (20 bytes), on the stack of thread T1 'main'
stack variable \`theirs.first\` of \`worker\`, at the start of \`theirs\` (20 bytes), on the stack of thread T2
the stack of thread T2
thread-local \`mine.second[2]\` of thread T2, 12 bytes into \`mine\` (20 bytes)"

for flags in -O0 -O1 -O2 '-O1 -gdwarf-4' '-O1 -gsplit-dwarf' '-O1 -fno-omit-frame-pointer' '-O1 -fuse-ld=lld-19'; do
    name=cli/names/$(echo "$flags" | tr -d ' ')
    # shellcheck disable=SC2086 # a list
    if ! (cd "$work" && "$deadheat" cc -g $flags -pthread "$here/names.c" -o names) >"$work/log" 2>&1; then
        echo "FAIL $name: $(head -1 "$work/log")"
        failed=1
        continue
    fi
    "$work/names" >"$work/log" 2>&1
    got=$(sed -n 's/^  Location: //p' "$work/log" | sed 's/, declared at [^,]*//; s/, in .*names$//' | sort)
    if [ "$got" = "$wanted" ]; then
        echo "ok $name"
    else
        echo "FAIL $name: $(echo "$got" | tr '\n' '|')"
        failed=1
    fi
done

# Without debug information the symbol table still names what has a symbol, and the function whose frame it is.
"$deadheat" cc -O1 -pthread "$here/names.c" -o "$work/names" && "$work/names" >"$work/log" 2>&1
got=$(sed -n 's/^  Location: //p' "$work/log" | sed 's/, in .*names$//' | grep -v array | sort)
wanted="global \`global\` (20 bytes)
the stack of thread T1 'main', in the frame of \`owner\`
the stack of thread T2
the stack of thread T2, in the frame of \`worker\`
thread-local \`mine + 12\` of thread T2, 12 bytes into \`mine\` (20 bytes)"
if [ "$got" = "$wanted" ]; then
    echo "ok cli/names/no-debug-information"
else
    echo "FAIL cli/names/no-debug-information: $(echo "$got" | tr '\n' '|')"
    failed=1
fi

# The thread-local variables of a library that is opened later: on the heap, or among the static ones.
wanted="thread-local \`opened.second[1]\` of thread T1 'main', 8 bytes into \`opened\` (20 bytes)
thread-local \`opened.second[3]\` of thread T2, 16 bytes into \`opened\` (20 bytes)"
for flags in '' -ftls-model=initial-exec -mtls-dialect=gnu2; do
    got=
    # shellcheck disable=SC2086 # none or one
    if "$deadheat" cc -g -O1 -shared -fPIC $flags "$here/library.c" -o "$work/library.so" &&
        "$deadheat" cc -g -O1 -pthread "$here/opener.c" -o "$work/opener"; then
        "$work/opener" "$work/library.so" >"$work/log" 2>&1
        got=$(sed -n 's/^  Location: //p' "$work/log" | sed 's/, declared at .*//' | sort)
    fi
    if [ "$got" = "$wanted" ]; then
        echo "ok cli/names/opened-library$flags"
    else
        echo "FAIL cli/names/opened-library$flags: $got"
        failed=1
    fi
done

# A variable of a thread that waits, found by others.
wanted="stack variable \`shared.second[2]\` of \`share\`, 12 bytes into \`shared\` (20 bytes), on the stack of thread T1 'main'"
for flags in -O0 -O1 -O2 '-O1 -fno-omit-frame-pointer'; do
    got=
    # shellcheck disable=SC2086 # a list
    if "$deadheat" cc -g $flags -pthread "$here/waits.c" -o "$work/waits"; then
        "$work/waits" >"$work/log" 2>&1
        got=$(sed -n 's/^  Location: //p' "$work/log" | sed 's/, declared at [^,]*//')
    fi
    if [ "$got" = "$wanted" ]; then
        echo "ok cli/names/waits$(echo "$flags" | tr -d ' ')"
    else
        echo "FAIL cli/names/waits$(echo "$flags" | tr -d ' '): $got"
        failed=1
    fi
done
exit $failed
