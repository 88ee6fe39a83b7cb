#!/bin/sh
# run.sh DEADHEAT - what was once wrong and no single program of tests/programs can show: odd layouts of memory, what is
# said at the end of a run, files and headers.
. "$(dirname "$0")/../lib.sh"
ulimit -c 0

run() { # OPTIONS COMMAND...: sets status, fills out and err
    DEADHEAT_OPTIONS=$1
    export DEADHEAT_OPTIONS
    shift
    within 60 "$@" >out 2>err
    status=$?
    unset DEADHEAT_OPTIONS
}
types() { # FILE: the kinds of its records, in order
    sed -n 's/.*"type":"\([a-z]*\)".*/\1/p' "$1" | tr '\n' ' '
}

cd "$work" || exit 1

# ---- Headers ----
if "$deadheat" cc -g -O1 -pthread "$here/race.c" -o race 2>err; then ok header-found; else bad header-found "$(head -1 err)"; fi
mkdir -p mine/deadheat
echo '#error "the header of the program itself"' >mine/deadheat/deadheat.h
"$deadheat" cc -Imine -c "$here/race.c" -o other.o 2>err
same own-header-first "$(grep -c 'error: "the header of the program itself"' err)" 1

# ---- Shadow ----
"$deadheat" cc -g -O1 -pthread "$here/shadow.c" -o shadow || { bad compile "deadheat cc failed"; exit 1; }
for mode in wild far; do
    run '' ./shadow $mode
    same $mode "$status:$(cat out err)" "0:done"
done
run '' ./shadow taken
same taken "$status:$(cat out):$(grep -c 'not everything was seen: accesses to memory for which no shadow' err):$(wc -l <err)" "0:done:1:1"
run report=0 ./shadow taken
same taken-quietly "$status:$(cat out err)" "0:done"
# A limit of so many terabytes for the stack pushes everything else down. With 48 the shadow of the one may fall on that
# of the other: the program must run all the same.
for tib in 8 24 40 48; do
    kib=$((tib << 30))
    if (ulimit -s $kib) 2>/dev/null; then
        run '' sh -c "ulimit -s $kib; exec ./shadow tls"
        [ $tib = 48 ] && sed -i '/not everything was seen/d' err
        same "stack-of-$tib-tib" "$status:$(cat out err)" "0:done"
    else
        skip "stack-of-$tib-tib" "the limit cannot be raised"
    fi
done

# ---- The end of a run ----
run '' ./race
same silent-when-nothing-is-lost "$status:$(cat out err)" "0:"
run on_race=stop ./race race
same stop-aborts "$status:$(cat out)" "134:"
same stop-says-so "$(grep -c 'stopped at the first race' err)" 1

# ---- Ranges ----
# The whole access is named, though only the last byte of it races.
"$deadheat" cc -g -O1 -pthread "$here/ranges.c" -o ranges || bad ranges "deadheat cc failed"
run '' ./ranges
same ranges-named-whole "$status:$(sed -n 's/^  \([A-Za-z ]* of [0-9]* bytes\{0,1\}\) at .*/\1/p' err | tr '\n' ';')" \
    "66:Write of 101 bytes;Earlier write of 1 byte;Free of 101 bytes;Earlier write of 1 byte;"

# ---- Places ----
# The byte that both touched is what is named. An earlier access begins where it did, whatever its alignment.
"$deadheat" cc -g -O1 -pthread "$here/places.c" -o places || bad places "deadheat cc failed"
run output=places.jsonl ./places
same places-named "$status:$(sed -n 's/^WARNING:.* global `\(.*\)`.*/\1/p' err | tr '\n' ';')" \
    '66:all.eight.g;all.sixteen.y[2];all.twos[1].y;packed.odd + 7;packed.split + 2;many[21];done;'
same places-begin "$(sed -n 's/.*"addr":"\(0x[0-9a-f]*\)",.*"addr":"\(0x[0-9a-f]*\)","size":\([0-9]*\).*/echo $((\1 - \2)):\3/p' \
    places.jsonl | sh | tr '\n' ' ')" "6:8 5:16 8:16 7:8 2:4 1:4 0:1 "
same places-at-least "$(sed -n 's/^  Earlier write of \(.*\) at .*/\1/p' err | tr '\n' ';')" \
    "8 bytes;16 bytes;16 bytes;8 bytes;4 bytes;at least 4 bytes;1 byte;"
like places-declared err 'Location: global `done` (1 byte), declared at .*places.c:'

# ---- The output file ----
run output=f1 ./race
same file-without-race "$status:$(types f1)" "0:process counters end "
same file-says-none "$(tail -1 f1 | grep -c '"races":0')" 1
"$deadheat" report f1 >out 2>err
same file-is-read "$?:$(cat out)" "0:"
run output=f1 ./race race
same file-is-appended "$(types f1 | sed 's/\(module\|thread\|repeat\) //g')" \
    "process counters end process race counters end "
run output=f2 ./race quiet fork
same file-of-children "$(types f2 | tr ' ' '\n' | sort | uniq -c | tr -s ' \n' ' ')" " 2 counters 2 end 2 process "
run report=0:output=f3:reporter=/nowhere ./race race
same file-needs-no-reporter "$status:$(cat out err):$(types f3 | grep -c race)" "66::1"
run report=0:output=f4:reporter=/nowhere:suppressions=/dev/null ./race race
same suppressions-need-one "$status:$(grep -c 'cannot be run' err)" 66:1
run output=/nowhere/f ./race
same file-cannot-be "$status:$(cat err)" \
    '0:deadheat: records are not saved: the output file "/nowhere/f" cannot be opened: no such file or directory'

exit $failed
