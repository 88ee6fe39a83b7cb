#!/bin/sh
# run.sh DEADHEAT - states that `deadheat caper` cannot use, and commands that are killed: there is a sentence, nothing hangs, and what was
# there before is intact. The program is that of tests/caper/state, which answers what it is told.
. "$(dirname "$0")/../../cli/lib.sh"
suite=caper/hostile
root=$(cd "$here/../../.." && pwd)
cd "$work" || exit 1
"$deadheat" cc --dh-mode=field -g -O1 -pthread -I"$root/src" -I"$root/include" "$here/../state/fake.c" -o prog.field >log 2>&1 &&
    python3 "$here/../state/sections.py" "$deadheat" ./prog.field "$root/src/base/caper.h" prog >groups 2>>log ||
    { bad build "$(tail -3 log | tr '\n' '|')"; exit 1; }
n=$(cat groups)
caper() { within 20 "$deadheat" caper "$@" >out 2>err; }
number() { # MEMBER STATE: of the status
    "$deadheat" caper status --state="$2" --format=json | python3 -c "import json, sys; print(json.load(sys.stdin)['$1'])"
}
caper --state=good --quiet ./prog 0 1 || { bad first "$(cat err)"; exit 1; }

# ---- What is no file, or not there ----
refused() { # NAME STATE TEXT: by a run and by the status, and nothing is made beside it
    for what in "" status; do
        # shellcheck disable=SC2086 # it may be no word
        caper $what --state="$2" ./prog
        same "$1${what:+-$what}" "$?" 2
        has "$1${what:+-$what}-words" err "$3"
    done
    same "$1-alone" "$(find . /dev -maxdepth 1 -newer groups -name "$(basename "$2").*" | wc -l)" 0
}
mkfifo pipe
mkdir folder
ln -s loop loop
ln -s pipe to-pipe
refused pipe pipe "it is no regular file"
refused link-to-pipe to-pipe "it is no regular file"
refused directory folder "it is no regular file"
refused device /dev/full "it is no regular file"
refused loop loop "Too many levels of symbolic links"
refused not-a-directory prog/state "Not a directory"
ln -s target dangling
caper --state=dangling --quiet ./prog 2
same dangling "$?:$(number escaped_sites dangling)" 0:1
# The lock and the new state are not written through links that others have put there.
cp good kept
echo mine >precious
ln -s precious kept.lock
caper --state=kept ./prog 2
same link-lock "$?:$(cat precious):$(cmp good kept && echo intact)" 2:mine:intact
rm kept.lock
ln -s precious kept.new
caper --state=kept ./prog 2
same link-new "$?:$(cat precious):$([ -L kept.new ] || echo gone)" 0:mine:gone

# ---- Damage: some of the prefixes and of the bytes; tests/unit and tests/fuzz try all of them ----
python3 - <<'END'
text = open("good", "rb").read()
for i in range(12):
    open(f"cut-{i}", "wb").write(text[:len(text) * i // 12])
    at = len(text) * (2 * i + 1) // 24
    open(f"flip-{i}", "wb").write(text[:at] + bytes([text[at] ^ 1 << i % 8]) + text[at + 1:])
END
wrong=
for s in cut-* flip-*; do
    cp "$s" before
    caper --state="$s" --quiet ./prog 2
    [ "$?:$(cmp "$s" before && grep -c "cannot use the state" err)" = 2:1 ] || wrong="$wrong $s"
done
same damaged "$wrong" ""

# ---- Killed at any moment ----
# Two commands at once, of which one is killed, again and again. What a command that ended by itself has told is in the state then;
# what the killed ones have left is there after the next run.
rm -f told
wrong=
for i in $(seq 1 24); do
    one=$((i % n)) two=$(((i * 7 + 3) % n))
    "$deadheat" caper --quiet --state=killed ./prog "$one" >/dev/null 2>&1 &
    victim=$!
    "$deadheat" caper --quiet --state=killed ./prog "$two" >/dev/null 2>err &
    other=$!
    python3 -c "import time; time.sleep($i % 8 * 0.004)" # whenever that is
    kill -9 $victim 2>/dev/null
    wait $other || wrong="$wrong $i:status-$?"
    wait $victim 2>/dev/null && echo "$one" >>told
    echo "$two" >>told
    have=$(number escaped_sites killed) || wrong="$wrong $i:unreadable"
    [ "${have:-0}" -ge "$(sort -u told | wc -l)" ] || wrong="$wrong $i:lost"
done
same killed "$wrong" ""
until caper --state=killed --quiet ./prog && [ -z "$(find . -name 'killed.run-*')" ]; do :; done # the programs end, too
same killed-readable "$(caper status --state=killed && echo "$?:$(find . -name 'killed.new' | wc -l)")" 0:0
exit $failed
