#!/bin/sh
# run.sh DEADHEAT - `deadheat caper` and what it keeps: merging, runs that go on at once, commands and programs that are killed,
# states that cannot be used, and what is printed and exported. The program is fake.c, which answers what it is told.
. "$(dirname "$0")/../../cli/lib.sh"
suite=caper/state
root=$(cd "$here/../../.." && pwd)
cd "$work" || exit 1

build() { # NAME FLAGS [SOURCE]
    # shellcheck disable=SC2086
    "$deadheat" cc --dh-mode=field -g -O1 -pthread -I"$root/src" -I"$root/include" $2 "${3:-$here/fake.c}" -o "$1.field" >log 2>&1 &&
        python3 "$here/sections.py" "$deadheat" "./$1.field" "$root/src/base/caper.h" "$1" >groups 2>>log ||
        { bad "build-$1" "$(tail -3 log | tr '\n' '|')"; exit 1; }
}
build prog ""
n=$(cat groups)
caper() { "$deadheat" caper --state="${state:-s}" "$@" >out 2>err; }
number() { # MEMBER [STATE]: of the status
    "$deadheat" caper status --state="${2:-s}" --format=json | python3 -c "import json, sys; print(json.load(sys.stdin)['$1'])"
}
left() { find . -name "${1:-s}.run-*" | wc -l; }
all=$(seq 0 $((n - 1)) | tr '\n' ' ')

# ---- A run ----
caper -- ./prog asked=asked exit=7
same own-status "$?:$(cat out)" "7:"
same first-asks-all "$(tr '\n' ' ' <asked)" "$all"
like first-words err "^deadheat caper: 0 new sites in run 1; 0 of $n sites escaped, 0 pairs in dpPairs, "
caper ./prog 0 1
same own-output "$?:$(cat out)" "0:done"
like words err "^deadheat caper: 2 new sites in run 2; 2 of $n sites escaped"
caper --quiet ./prog asked=asked
same quiet "$(cat err)" ""
same asks-new "$(tr '\n' ' ' <asked)" "$(seq 2 $((n - 1)) | tr '\n' ' ')"
(caper --quiet ./prog 2 kill=15) 2>/dev/null
same own-signal "$?" 143
same signal-merged "$(number escaped_sites)" 3
(caper --quiet ./prog 3 kill=9) 2>/dev/null
same killed-merged "$(number escaped_sites):$(left)" 4:0
caper --quiet --ask=all ./prog asked=asked
same ask-all "$(wc -l <asked)" "$n"
caper --quiet --ask=none ./prog asked=asked
same ask-none "$(wc -l <asked):$(number steady_runs)" 0:1 # the one before
cat >script <<'END'
#!/bin/sh
./prog 4
exit 3
END
chmod +x script
caper --quiet --program=./prog ./script
same script "$?:$(number escaped_sites)" 3:5
# shellcheck disable=SC2086
caper ./prog $all
caper ./prog asked=asked
same all-known "$(wc -l <asked)" 0
has steady err "nothing new for 1 run"
same all-pairs "$(number sp_pairs)" 0
"$deadheat" static --style=sound --format=json prog >static.json
same count "$(number dp_pairs)" "$(python3 -c "import json; print(json.load(open('static.json'))['pairs'])")"
same history "$(number history | tr '{' '\n' | grep -c "'run'")" "$(number runs)"

# ---- Several at once ----
state=two
caper --quiet ./prog
"$deadheat" caper --quiet --state=two ./prog 0 say=a.on wait=a.go >/dev/null &
first=$!
"$deadheat" caper --quiet --state=two ./prog 1 say=b.on wait=b.go >/dev/null &
second=$!
while [ ! -e a.on ] || [ ! -e b.on ]; do :; done
same running "$(left two):$(number escaped_sites two)" 2:0
touch b.go && wait $second
touch a.go && wait $first
same two-at-once "$(number escaped_sites two):$(number runs two):$(left two)" 2:3:0
state=many
caper --quiet ./prog
pids=
for g in $all; do
    "$deadheat" caper --quiet --state=many ./prog "$g" wait=many.go >/dev/null &
    pids="$pids $!"
done
touch many.go
for p in $pids; do wait "$p"; done
same many-at-once "$(number escaped_sites many):$(number runs many):$(left many)" "$n:$((n + 1)):0"

# ---- Who is killed ----
state=killed
caper --quiet ./prog
"$deadheat" caper --quiet --state=killed ./prog 0 say=k.on wait=k.go 1 say=k.end >/dev/null 2>&1 &
command=$!
while [ ! -e k.on ]; do :; done
kill -9 $command
wait $command 2>/dev/null
caper ./prog asked=asked # the program goes on: its file is read, and stays
same live-merged "$(number escaped_sites killed):$(left killed)" 1:1
like live-words err "1 site more came from runs whose command had been killed or could not write the state"
touch k.go
while [ ! -e k.end ]; do :; done
until caper --quiet ./prog && [ "$(left killed)" = 0 ]; do :; done # until the process is gone, too
same dead-merged "$(number escaped_sites killed)" 2
state=daemon
caper --quiet ./prog leave=x wait=d.go 3 say=d.end
same daemon-kept "$(number escaped_sites daemon):$(left daemon)" 0:1
touch d.go
while [ ! -e d.end ]; do :; done
until caper --quiet ./prog && [ "$(left daemon)" = 0 ]; do :; done
same daemon-merged "$(number escaped_sites daemon)" 1
# A file that was merged, and not removed because the command was killed then, counts as a run once.
state=again
"$deadheat" caper --quiet --state=again ./prog 0 say=g.on wait=g.go >/dev/null &
command=$!
while [ ! -e g.on ]; do :; done
copy=$(find . -name 'again.run-*')
cp "$copy" saved
touch g.go && wait $command
cp saved "$copy"
caper --quiet ./prog
same merged-once "$(number runs again):$(left again)" 2:0
# What a command has left that was killed as it wrote.
echo '{"type":' >again.new
: >again.run-ABCDEF
caper --quiet ./prog
same half-written "$?:$(number runs again):$(left again)" 0:3:0
echo notes >again.run-notes
caper --quiet ./prog
same not-ours "$(cat again.run-notes)" notes

# ---- Another build ----
build other "-DOTHER -O2"
state=moved
caper --quiet ./prog 0 1
cp moved moved.before
caper ./other
same other-build "$?" 2
like other-build-words err "^deadheat caper: error: the state 'moved' is of build [0-9a-f]\{12\} of '.*/prog', and '.*/other' is build [0-9a-f]\{12\}; .* --migrate"
same other-build-intact "$(cmp moved moved.before && left moved)" 0
# Only a run can carry it over.
"$deadheat" caper status --state=moved ./other >out 2>err
same other-build-status "$?" 2
has other-build-status-words err "or run the program by 'deadheat caper --migrate' to carry over"
caper --migrate ./other asked=asked
same migrate "$?:$(cmp moved.old moved.before && echo kept)" 0:kept
like migrate-words err "of the 2 sites in the state, 2 are carried over from build [0-9a-f]\{12\} and 0 are gone"
same migrated "$(number escaped_sites moved):$(number runs moved)" 2:2
caper ./prog
same migrated-away "$?" 2
caper --quiet --migrate ./other
same migrate-nothing "$?" 0
build edited "-DEDITED"
state=edited.state
cp moved.before edited.state
caper --migrate ./edited
like migrate-gone err "of the 2 sites in the state, 1 are carried over from build [0-9a-f]\{12\} and 1 are gone"
# Functions that have only moved within their file keep their accesses.
mkdir before after
cp "$here/fake.c" before/
{ printf '/* new */\n\n' && cat "$here/fake.c"; } >after/fake.c
for name in before after; do
    (cd $name && build prog "" fake.c) || exit 1
done
state=shifted
caper --quiet before/prog 0 1
caper --migrate after/prog
like migrate-shifted err "of the 2 sites in the state, 2 are carried over from build [0-9a-f]\{12\} and 0 are gone"
# A state that was migrated while the program ran.
state=meanwhile
caper --quiet ./prog
"$deadheat" caper --quiet --state=meanwhile ./prog 0 say=m.on wait=m.go >/dev/null 2>m.err &
command=$!
while [ ! -e m.on ]; do :; done
caper --quiet --migrate ./other
cp meanwhile meanwhile.before
touch m.go && wait $command
same migrated-meanwhile "$?:$(cmp meanwhile meanwhile.before && echo intact)" 2:intact
has migrated-meanwhile-words m.err "is of build"

# ---- What cannot be used ----
refused() { # NAME STATE TEXT: the state is refused, and left as it is
    cp "$2" refused.before
    state=$2
    caper ./prog 0
    same "$1" "$?:$(cmp "$2" refused.before && left "$2")" 2:0
    has "$1-words" err "cannot use the state '$2': $3"
    "$deadheat" caper status --state="$2" ./prog >out 2>err
    same "$1-status" "$?" 2
}
head -c 300 s >short
refused truncated short "it is cut off"
head -n -1 s >shorter
refused last-line shorter "it is cut off"
: >empty
refused empty empty "it is no state of 'deadheat caper'"
sed 's/"exit 7"/"exit 0"/' s >changed
refused changed changed "it was changed or damaged"
cp prog foreign
refused foreign foreign "it is no state of 'deadheat caper'"
sed '1s/"v":1/"v":99/' s >future
refused future future "it is from another version of deadheat"
mkdir folder
state=folder
caper ./prog
same folder "$?" 2
state=absent/s
caper ./prog
same no-directory "$?" 2
has no-directory-words err "absent"
state=fresh
caper ./prog.field
same field-build "$?:$(find . -name 'fresh*' | wc -l)" 2:0
has field-build-words err "is no Caper build: build it with 'deadheat cc --dh-mode=caper'"
caper ./script
same no-program "$?" 2
has no-program-words err "--program=FILE"
caper ./absent
same absent "$?" 127
objcopy --remove-section .note.gnu.build-id prog anonymous
caper ./anonymous
same no-build-id "$?" 2
has no-build-id-words err "-Wl,--build-id"
damaged() { # NAME SECTION PYTHON TEXT: the bytes of a section are those that an expression gives of what they were
    name=$(sed -n "s/#define $2 \"\(.*\)\"/\1/p" "$root/src/base/caper.h")
    objcopy --dump-section "$name=bytes" prog && python3 -c "b = open('bytes', 'rb').read(); open('bytes', 'wb').write($3)"
    objcopy --update-section "$name=bytes" prog damaged 2>/dev/null
    caper ./damaged
    same "$1" "$?" 2
    has "$1-words" err "$4"
}
damaged head-version DH_CAPER_HEAD "b'\\x63' + b[1:]" "of another version of deadheat"
damaged head-short DH_CAPER_HEAD "b[:7]" "is no Caper build"
damaged groups-short DH_CAPER_GROUPS "b[:-4]" "not all there"
damaged groups-index DH_CAPER_GROUPS "b[:4] + b'\\xff' * 4 + b[8:]" "does not have"
damaged groups-length DH_CAPER_GROUPS "b'\\xff' * 4 + b[4:]" "does not have"
"$deadheat" caper ./prog 2>err
same no-state "$?" 2
"$deadheat" caper --state=s --stat ./prog 2>err
same unknown-flag "$?" 2

# No room: the state stays as it was, and what the run has found is not lost.
state=room
for i in 1 2 3; do caper --quiet ./prog; done
cp room room.before
(ulimit -f 1; "$deadheat" caper --state=room ./prog 2 >out 2>err)
same no-room "$?:$(cmp room room.before && left room)" 2:0
has no-room-words err "cannot write the state 'room': File too large"
# A command that was killed while it kept the old state has left a link to it where the new one is written.
ln room room.new
(ulimit -f 1; "$deadheat" caper --state=room ./prog 2 >out 2>err)
same no-room-linked "$?:$(cmp room room.before && left room)" 2:0
mkfifo room.new
within 20 "$deadheat" caper --quiet --state=room ./prog >out 2>err
same pipe-in-place "$?" 0
mkdir disk
if mount -t tmpfs -o size=16k none disk 2>/dev/null; then
    state=disk/s
    caper --quiet ./prog
    cp disk/s disk.before
    "$deadheat" caper --state=disk/s ./prog 2 say=f.on wait=f.go >out 2>err &
    command=$!
    while [ ! -e f.on ]; do :; done
    head -c 64k /dev/zero >disk/full 2>/dev/null
    touch f.go && wait $command
    same full-disk "$?:$(cmp disk/s disk.before && echo intact)" 2:intact
    has full-disk-words err "No space left on device; what this run has found stays in"
    caper --quiet ./prog
    same full-disk-before "$?:$(cmp disk/s disk.before && echo intact)" 2:intact
    rm disk/full
    caper --quiet ./prog
    same full-disk-after "$(number escaped_sites disk/s)" 1
    umount disk
else
    skip full-disk "no file system can be mounted here"
fi
if [ "$(id -u)" = 0 ] && chmod 755 "$work" && setpriv --reuid=65534 --clear-groups "$deadheat" --version >/dev/null 2>&1; then
    mkdir locked && cp s locked/ && chmod 644 locked/s
    setpriv --reuid=65534 --clear-groups "$deadheat" caper --state=locked/s ./prog >out 2>err
    same read-only "$?" 2
    has read-only-words err "Permission denied"
    setpriv --reuid=65534 --clear-groups "$deadheat" caper status --state=locked/s >out 2>err
    same read-only-status "$?" 0
else
    skip read-only "needs a user to become"
fi

# ---- Trouble ----
state=trouble
caper ./prog trouble=1
has no-shadow err "all memory counted as escaped"
caper ./prog trouble=2
has no-patch err "was not allowed to change its own code"
same no-patch-says-nothing "$(number steady_runs trouble)" 1 # the one before
caper ./prog trouble=4
has other-process err "a process of another Caper build"
caper ./prog quiet
has not-begun err "so this run says nothing"
caper ./prog other=1 0
same damaged "$?" 2
has damaged-words err "this run is lost"
ln -s trouble link
state=link
caper --quiet ./prog 5
same link "$(readlink link):$(number escaped_sites trouble)" trouble:1

# ---- What is told ----
state=told
caper --quiet ./prog 0
# shellcheck disable=SC2086
caper --quiet ./prog $all
"$deadheat" caper status --state=told >out
has status out "2 runs of" "deSites  $n of $n sites" "exit 0"
"$deadheat" caper status --state=told --list >out
has list out "dpPairs: both accesses" "counter" "fake.c:"
caper --quiet --state=half ./prog 0
same list-sp "$("$deadheat" caper status --state=half --list --set=sp --format=json | python3 -c 'import json, sys; print(json.load(sys.stdin)["pairs"])')" "$(number sp_pairs half)"
for f in json sarif html; do
    "$deadheat" caper status --state=told --list --format=$f --output=list.$f
    same "list-$f" "$?" 0
done
python3 -m json.tool list.json >/dev/null && python3 -m json.tool list.sarif >/dev/null
same list-parses "$?" 0
"$deadheat" caper status --state=told --format=html --output=page.html
has page page.html "<svg" "dpPairs" "prefers-color-scheme:dark"
"$deadheat" caper status --state=told --format=sarif 2>err
same status-sarif "$?" 2
cp told told.before
"$deadheat" caper status --state=told --output=told 2>err
same over-input "$?:$(cmp told told.before && echo intact)" 2:intact
"$deadheat" caper export --state=told --to=filter -o told 2>err
same export-over-input "$?:$(cmp told told.before && echo intact)" 2:intact
"$deadheat" caper export --state=told --to=filter -o filter
same filter "$(grep -vc '^#' filter):$(cut -f5 filter | grep -c yes):$(cut -f6 filter | grep -c yes)" "$n:$n:$n"
"$deadheat" caper export --state=told --to=json >sets.json
same sets "$(python3 -c "import json; d = json.load(open('sets.json')); print(len(d['sites']), len(d['dp_bundles']) == len(d['sound_bundles']))")" "$n True"
# What the bundles stand for, written out: as many pairs of sites as there are said to be.
cat >expand.py <<'EOF'
import json

d = json.load(open("sets.json"))
for bundles in ("dp_bundles", "sound_bundles"):
    pairs = set()
    for a, more_a, b, more_b in d[bundles]:
        pairs |= {(min(x, y), max(x, y)) for x in (a, *d["lists"][more_a]) for y in (b, *d["lists"][more_b])}
    print(len(pairs))
EOF
same sets-expanded "$(python3 expand.py | tr '\n' ' ')" "$(number dp_pairs told) $(($(number dp_pairs told) + $(number sp_pairs told))) "
"$deadheat" caper export --state=told --to=pairs -o pairs.json
same pairs "$(python3 -c "import json; print(len(json.load(open('pairs.json'))['findings']))")" "$(number dp_pairs told)"
"$deadheat" caper export --state=told --to=pairs --limit=1 -o one.json 2>err
same limit "$(python3 -c "import json; print(len(json.load(open('one.json'))['findings']))")" 1
has limit-words err "pairs are left out"
"$deadheat" chase --pairs=pairs.json --trials=1 --summary=chased.json -- ./prog.field >out 2>err
same chase "$(python3 -c "import json; print(json.load(open('chased.json'))['pairs'] > 0)")" True
odd=$(printf 'odd\377\033[31m')
mkdir "$odd" && cp prog "$odd/prog"
state=$odd/s
caper --quiet "$odd/prog" 0
for f in text json html; do
    "$deadheat" caper status --state="$odd/s" --format=$f "$odd/prog" >out
    same "odd-name-$f" "$?:$(grep -c "$(printf '\033')" out)" 0:0
done
"$deadheat" caper export --state=absent --to=json 2>err
same export-absent "$?" 2
"$deadheat" caper export --state=told --to=xml 2>err
same export-form "$?" 2
rm prog
"$deadheat" caper status --state=told 2>err
same program-gone "$?" 2
exit $failed
