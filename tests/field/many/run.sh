#!/bin/sh
# run.sh DEADHEAT OBJ - `deadheat chase` with many pairs: what it shows meanwhile, what it lists, what it keeps, and pairs that are
# predicted or of another build. And that who interrupts the program is no consequence of a race.
. "$(dirname "$0")/../lib.sh"

sure="--rmax=100% --delay=900ms"
short="--rmax=100% --delay=20ms"
access() { echo "{\"kind\":\"write\",\"stack\":[{\"file\":\"$1.c\",\"line\":$(line "$1" "$2")}]}"; } # PROGRAM MARK
findings() { # PROGRAM MARK MARK...: of each two marks one
    program=$1 list=
    shift
    while [ $# -gt 0 ]; do
        list="$list${list:+,}{\"accesses\":[$(access "$program" "$1"),$(access "$program" "$2")]}"
        shift 2
    done
    echo "{\"version\":2,\"findings\":[$list]}"
}

# ---- A race that is only predicted ----
build gcc "-O1 -DAFTER_AT_MOST_MS=50" hidden
"$deadheat" cc -g -O1 -D_GNU_SOURCE -pthread "$programs/hidden.c" -o hidden-recorded || exit 1
"$deadheat" record --quiet -o hidden.dht -- ./hidden-recorded >out 2>err
same predicted-recorded "$?:$(cat out)" 0:OK
"$deadheat" analyze --detector=fasttrack hidden.dht >out 2>err
same predicted-not-seen "$?" 0
for detector in wcp syncp osr; do
    "$deadheat" analyze --detector=$detector --format=json hidden.dht >$detector.json 2>err
    same "predicted-$detector" "$?" 66
    # shellcheck disable=SC2086
    chase $sure --from $detector.json -- ./hidden
    same "predicted-$detector-confirmed" "$status" 66
    has "predicted-$detector-words" err "hidden.c:$(line hidden FIRST) with hidden.c:$(line hidden SECOND): confirmed" \
        "confirmed data race on global \`data\`"
done

# ---- Instructions that cannot be chased are listed, each once ----
build gcc -O1 masked
findings masked PLAIN MASKED MASKED PLAIN BOTH PLAIN >masked.json
# shellcheck disable=SC2086
chase $short --trials=2 --from masked.json --summary=masked.out -- ./masked
same unchased "$status:$(sort -u out)" 0:OK
for mark in MASKED BOTH; do
    same "unchased-$mark" "$(grep -c "warning: the access at masked.c:$(line masked $mark):[0-9]* (0x[0-9a-f]*) cannot be chased: a mask" err)" 1
    like "unchased-$mark-json" masked.out "\"at\": \".*masked.c:$(line masked $mark):"
done
has unchased-why masked.out '"unchased": [' '"why": "a mask decides which bytes'
has unchased-pair err "masked.c:$(line masked MASKED) with masked.c:$(line masked PLAIN): not chased: what accesses it cannot be chased"
same unchased-tried "$(sed -n 's/.*"tried": \([0-9]*\).*/\1/p' masked.out)" 1

# ---- Who interrupts the program is the user, also if it sees to that itself ----
build gcc -O1 interrupt
pair="interrupt.c:$(line interrupt FIRST):write:interrupt.c:$(line interrupt SECOND):read"
for how in default:66: handled:66:OK; do
    await "data race" --rmax=100% --steer=alternate --output=${how%%:*}.jsonl --pair "$pair" -- ./interrupt "${how%%:*}"
    same "interrupt-$how" "${how%%:*}:$status:$(sort -u out)" "$how"
    has "interrupt-$how-record" "${how%%:*}.jsonl" '"consequence":"interrupted"' '"detail":"by the user"'
    lacks "interrupt-$how-crash" err "killed by"
done
# It ends all trials, and of many pairs all.
# shellcheck disable=SC2086
chase $short --trials=9 --pair "$pair" -- ./interrupt handled
same interrupt-trials "$(cat out)" OK
# shellcheck disable=SC2086
chase $short --trials=9 --infer -- ./interrupt handled
same interrupt-infer "$(cat out)" OK
findings interrupt SECOND FIRST | sed 's/"write"/"read"/' >interrupt.json
# shellcheck disable=SC2086
chase $short --trials=1000 --from interrupt.json --summary=interrupt.out -- ./interrupt handled
same interrupt-many "$(cat out)" OK
has interrupt-many-runs interrupt.out '"runs": 1,'
# So it is with other signals that end programs, whoever is to handle them; but a program that handles SIGHUP works on.
for how in 'default 15:1' 'handled 15:1' 'default 1:1' 'default 3:1' 'handled 1:2'; do
    # shellcheck disable=SC2086
    env --default-signal=HUP,QUIT,TERM "$deadheat" chase $short --trials=1 --budget=30s --from interrupt.json --summary=interrupt.out \
        -- ./interrupt ${how%:*} >out 2>err
    has "interrupt-$how" interrupt.out "\"runs\": ${how#*:},"
done

# ---- A state that cannot be written to its end says why, and has whole lines only ----
# shellcheck disable=SC2086
chase $short --from interrupt.json --state=full.state -- ./interrupt handled
python3 - <<'END'
LIMIT, LEFT = 2000 * 512, 50
header, run = open("full.state").read().splitlines()[:2]
size = len(header) + 1
with open("full.state", "w") as state:
    print(header, file=state)
    other = run.replace("interrupt.c", "other.c")
    while size + 2 * len(other) < LIMIT - LEFT:
        size += len(other) + 1
        print(other, file=state)
    print(other.ljust(LIMIT - LEFT - size - 1), file=state)
END
cp full.state before
(
    trap '' XFSZ
    ulimit -f 2000 # of 512 bytes
    # shellcheck disable=SC2086
    "$deadheat" chase $short --from interrupt.json --state=full.state -- ./interrupt handled 2>&1
) | cat >out
has state-full out "cannot write the state: File too large"
cmp before full.state >out 2>&1
same state-full-lines "$?:$(cat out)" 0:

# ---- The program was built again since ----
first=$(line meet FIRST) second=$(line meet SECOND)
build gcc -O2 meet
# shellcheck disable=SC2086
chase $sure --output=old.jsonl --pair "meet.c:$first:write:meet.c:$second:read" -- ./meet
same build "$status" 66
fingerprint=$(sed -n 's/.*Fingerprint \(dh[0-9]*-[0-9a-f]*\).*/\1/p' err)
# shellcheck disable=SC2086
chase $sure --from old.jsonl -- ./meet
lacks build-same err "was built again"
build gcc -O1 meet
sentence="'$work/meet' was built again since the races in 'old.jsonl' were found, so their lines are not known any more"
refused build-other "$sentence" --from old.jsonl -- ./meet
refused build-replay "$sentence" --replay="$fingerprint" --from old.jsonl -- ./meet
# shellcheck disable=SC2086
chase $sure --output=old.jsonl --pair "meet.c:$first:write:meet.c:$second:read" -- ./meet
# shellcheck disable=SC2086
chase $sure --from old.jsonl -- ./meet
same build-both "$status" 66
has build-both-words err "warning: '$work/meet' was built again since some of the races in 'old.jsonl' were found" \
    "meet.c:$first with meet.c:$second: confirmed" "1 pairs, 2 runs"
# What was printed while the lines were known has them.
"$deadheat" report --format=json old.jsonl >new.json 2>err
build gcc -O2 meet
# shellcheck disable=SC2086
chase $sure --from new.json -- ./meet
same build-json "$status" 66
lacks build-json-words err "was built again"

# ---- What the run that infers has confirmed stays so ----
build gcc -O2 random
findings random FIRST FIRST >random.json
# shellcheck disable=SC2086
chase $short --infer --trials=0 --from random.json --state=random.state -- ./random race
if grep -q 'refuses hardware watchpoints' err; then
    skip state "no hardware watchpoints here"
else
    same state "$status" 66
    has state-line random.state '"outcome":"met"' '"at_once":true'
    chase --rmax=0% --from random.json --state=random.state --summary=state.json -- ./random apart
    same state-later "$status" 66
    has state-later-json state.json '"confirmed": 1' '"outcome": "confirmed"'
    chase --rmax=0% --from random.json --summary=state.json -- ./random apart
    same state-without "$status" 0
fi

# ---- A live table on a terminal, and nothing of it elsewhere ----
findings meet SECOND FIRST | sed 's/"write"/"read"/' >live.json
show() { # ROWS COLUMNS ARGUMENTS: fills before and after
    # shellcheck disable=SC2086
    python3 "$here/terminal.py" "$1" "$2" "$deadheat" chase --color=never --source=0 --from live.json $3 -- ./meet global >screen
    sed '/^====$/,$d' screen >before
    sed '1,/^====$/d' screen >after
}
show 30 80 "--rmax=100% --delay=900ms --budget=100s"
has live before "deadheat chase: run 2, " " s of 100 s" \
    "pairs  tried  reached  confirmed  twice  not seen  timeout  not chased  left" \
    "  meet.c:$first with meet.c:$second (a thread waits at meet.c:$first): confirmed" \
    "  meet.c:$first with meet.c:$second (a thread waits at meet.c:$second): "
like live-counts before "^    1      1        1          1      [01]         0        0           0     0$"
same live-rows "$(sed -n '$=' before):$(tail -9 before | sed -n '2s/, [0-9]* s of/, of/p')" "30:deadheat chase: run 2, of 100 s"
# At the end there is nothing of it, and all that was printed meanwhile.
lacks live-end after "deadheat chase: run"
lacks live-end-outcomes after "a thread waits at"
same live-end-program "$(grep -c '^OK$' after)" 2
has live-end-rest after "confirmed data race on global" "Fingerprint $fingerprint" "1 data race" "tried  reached  confirmed"
show 14 20 "--rmax=0%"
same live-narrow "$(sed -n '/deadheat chase: run/,$p' before | head -3 | sed 's/ *$//')" "deadheat chase: run
pairs  tried  reache
    1      1"
lacks live-narrow-end after "pairs  tried  reached  confirmed  twice  not seen  timeout  not chased  left"
show 8 80 "--rmax=0%" # too low: lines
same live-low "$(grep -c . before)" 0
has live-low-lines after "meet.c:$first with meet.c:$second: not reached"
chase --rmax=0% --from live.json -- ./meet
same live-no-terminal "$(tr -cd '\033' <err | wc -c)" 0
exit $failed
