#!/bin/sh
# run.sh DEADHEAT - `deadheat compare` as a user calls it: on traces, on a recording, on a program; formats, truth,
# errors.
. "$(dirname "$0")/../lib.sh"
traces=$(cd "$here/../../traces" && pwd)

run() { # ARGUMENTS: sets status, fills out and err
    "$deadheat" compare "$@" >out 2>err
    status=$?
}
json() { # PYTHON: d is what was printed, r its rows by name
    python3 -c "import json
d = json.load(open('out'))
r = {x['name']: x for x in d['detectors']}
$1"
}

cd "$work" && mkdir tmp || exit 1
TMPDIR=$work/tmp # so that what is left in it can be seen
export TMPDIR
all=$("$deadheat" detectors --format=json | python3 -c 'import json, sys
print(" ".join(d["name"] for d in json.load(sys.stdin)["detectors"]))')

# Every detector on one trace; 66 if any reported, as analyze has it.
run "$traces/wcp_only_1.std"
same trace-exit "$status" 66
same trace-quiet "$(cat err)" ""
missing=
for d in $all; do grep -q "^$d " out || missing="$missing $d"; done
same trace-every-detector "$missing" ""
has trace-matrix out "x         eraser acculock multilock simplelock"
run "$traces/disciplined.std"
same clean-exit "$status" 0
run --detectors=fasttrack,empty,fasttrack "$traces/wcp_only_1.std"
same chosen-exit "$status" 0
same chosen-rows "$(awk 'NR > 3 && NF { print $1 } !NF && NR > 3 { exit }' out | tr '\n' ' ')" "fasttrack empty "
has nothing-reported out "No detector reported anything."
lacks nothing-reported-table out "reported by"

# JSON: counts, what only one has, how it was done.
run --format=json --detectors=empty,eraser,fasttrack "$traces/fork_join_handover.std"
same json-exit "$status" 66
same json-members "$(json 'e = r["eraser"]
print(d["version"], d["kind"], d["threads"], e["variables"], len(e["pairs"]) > 0, e["only"], e["how"], e["guarantee"], r["fasttrack"]["variables"],
      r["empty"]["over_empty"], e["over_native"], e["peak_bytes"] > 0, e["seconds"] > 0 and e["cpu_seconds"] >= 0, e["error"])')" \
    "1 trace 3 ['x'] True ['x'] trace unsound [] 1.0 None True True None"

# CSV: the same number of columns everywhere.
run --format=csv "$traces/fork_join_handover.std"
same csv-exit "$status" 66
same csv-columns "$(python3 -c 'import csv
rows = list(csv.DictReader(open("out")))
print(len(rows), {len(r) for r in rows}, rows[0]["detector"], [r["variables"] for r in rows if r["detector"] == "eraser"], rows[0]["misses"] == "")')" \
    "$(echo "$all" | wc -w) {17} empty ['1'] True"

# HTML: one page, every detector, well-formed enough to be parsed, nothing loaded from elsewhere.
run --format=html "$traces/fork_join_handover.std"
same html-exit "$status" 66
# shellcheck disable=SC2086 # one word a detector
same html-page "$(python3 - $all <<'END'
import html.parser
import sys

text = open("out").read()
seen, stack, bad = set(), [], []

class Page(html.parser.HTMLParser):
    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            stack.append(tag)
        for name, value in attrs:
            if name in ("src", "href"):
                bad.append(value)

    def handle_endtag(self, tag):
        if not stack or stack.pop() != tag:
            bad.append("/" + tag)

    def handle_data(self, data):
        if stack and stack[-1] == "td":
            seen.add(data.strip())

page = Page()
page.feed(text)
print(sorted(set(sys.argv[1:]) - seen), "width:100.0%" in text, bad, stack)
END
)" "[] True [] []"
cp "$traces/fork_join_handover.std" '<b>&.std'
run --format=html '<b>&.std'
same html-escaped "$(grep -c '<b>' out)" 0

# Truth: by variable and by places.
printf '# what is real\nvariable x\nvariable never\n' >truth
run --format=json --truth=truth --detectors=fasttrack,acculock "$traces/wcp_only_1.std"
same truth-variables "$(json 'print([(n, r[n]["true_positives"], r[n]["false_positives"], r[n]["misses"]) for n in ("fasttrack", "acculock")])')" \
    "[('fasttrack', [], [], ['x', 'never']), ('acculock', ['x'], [], ['never'])]"
printf 'race 6 3 # unordered\nrace 6 6\n' >truth
run --format=json --truth=truth --detectors=fasttrack "$traces/different_locks.std"
same truth-places "$(json 'f = r["fasttrack"]; print(f["true_positives"], f["false_positives"], f["misses"])')" "['6 - 3'] [] ['6 - 6']"
: >truth
run --truth=truth --detectors=eraser "$traces/fork_join_handover.std"
same truth-none "$(awk '$1 == "eraser" { print $(NF - 2), $(NF - 1), $NF }' out)" "0 1 0"
printf 'variable\n' >truth
run --truth=truth "$traces/disciplined.std"
same truth-bad-exit "$status" 2
has truth-bad err "truth:1: a line must be 'variable NAME' or 'race PLACE PLACE'"

# Bad input and usage.
printf 'T0|acq(L)|1\nT1|acq(L)|2\n' >bad.std
run bad.std
same bad-exit "$status" 2
same bad-once "$(cat err)" "deadheat compare: error: bad.std:2: thread T1 acquires lock L, which thread T0 holds since line 1"
same bad-no-table "$(cat out)" ""
usage() { # NAME TEXT ARGUMENTS
    name=$1 text=$2
    shift 2
    run "$@"
    same "usage-$name-exit" "$status" 2
    has "usage-$name" err "$text"
}
usage nothing "which trace, or which program?"
usage no-program "which program?" --
usage two "one trace at a time" a.std b.std
usage both "a trace or a program, not both" a.std -- ./prog
usage stdin "it is read once a detector" -
usage absent "cannot open absent.std" absent.std
usage format "--format cannot be 'xml'" --format=xml a.std
usage detector "did you mean 'fasttrack'?" --detectors=fastrack a.std
usage option "did you mean '--detectors'?" --detectrs=empty a.std
usage value "--truth needs a value" --truth a.std
usage number "--rounds cannot be '0'" --rounds=0 a.std
usage native "--native is for programs" --native=/bin/true a.std
usage truth "cannot read absent" --truth=absent a.std
run -- ./absent
same absent-program-exit "$status" 127
run -- /bin/true
same plain-program-exit "$status" 2
has plain-program err "was not compiled by deadheat"
run --help
same help-exit "$status" 0
has help out "usage: deadheat compare"

# A program with marks in its source: as a recording, and running.
cp "$here/../../../examples/guide/prog.c" marked.c
if ! "$deadheat" cc -g -O1 -pthread marked.c -o marked >log 2>&1 || ! clang-19 -g -O1 -pthread marked.c -o plain >>log 2>&1 ||
    ! "$deadheat" record --quiet -o run.dht -- ./marked >>log 2>&1; then
    bad program-build "$(head -3 log | tr '\n' '|')"
    exit 1
fi
judged='print([(n, r[n]["variables"], r[n]["true_positives"], r[n]["false_positives"], r[n]["misses"]) for n in ("eraser", "fasttrack", "multilock")])'
expected="[('eraser', ['handed', 'hidden', 'racy'], ['a', 'b'], ['handed'], []), ('fasttrack', ['racy'], ['a'], [], ['b']), ('multilock', ['hidden', 'racy'], ['a', 'b'], [], [])]"
run --format=json --truth=marked.c run.dht
same recording-exit "$status" 66
same recording-judged "$(json "$judged")" "$expected"
same recording-precise "$(json 'print({len(r[n]["variables"]) for n in ("goldilocks", "basicvc", "djit", "shb")})')" "{1}"
run --format=json --truth=marked.c --native=./plain -- ./marked
same program-exit "$status" 66
same program-judged "$(json "$judged")" "$expected"
same program-rows "$(json 'print(d["kind"], d["detectors"][0]["name"], r["fasttrack"]["how"], r["cp"]["how"], r["record"]["how"], r["fasttrack"]["over_native"] > 0, r["fasttrack-ref"]["variables"], r["native"]["over_native"], [x["error"] for x in d["detectors"] if x["error"]])')" \
    "program native online offline recording True ['racy'] 1.0 []"
same program-silent "$(cat err)" ""
run --offline --format=json --detectors=empty,fasttrack,syncp -- ./marked
same offline-rows "$(json 'print([(x["name"], x["how"]) for x in d["detectors"]])')" \
    "[('record', 'recording'), ('empty', 'offline'), ('fasttrack', 'offline'), ('syncp', 'offline')]"
same leaves-nothing "$(ls tmp)" ""

# A program that does not end is given up, with all it has started.
printf '#include <unistd.h>\nint main(void) { for (;;) pause(); }\n' >hang.c
"$deadheat" cc -g hang.c -o "hang-$$"
run --timeout=1 --format=json --detectors=djit,syncp -- "./hang-$$"
same timeout-exit "$status" 2
same timeout-said "$(json 'print(r["djit"]["error"], "|", r["syncp"]["error"])')" "not ended after 1 s | no recording: not ended after 1 s"
tries=0
while pgrep -f "^\./hang-$$\$" >/dev/null && [ $tries -lt 50 ]; do # a killed process may take a moment
    sleep 0.1
    tries=$((tries + 1))
done
same timeout-nothing-left "$(pgrep -c -f "^\./hang-$$\$")" 0

# So is one whose comparison is ended by a signal; nothing is left behind.
"$deadheat" compare --detectors=djit -- "./hang-$$" >/dev/null 2>&1 &
pid=$!
tries=0
while ! pgrep -f "^\./hang-$$\$" >/dev/null && [ $tries -lt 100 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -TERM $pid
wait $pid 2>/dev/null
same signal-exit "$?" 143
tries=0
while pgrep -f "^\./hang-$$\$" >/dev/null && [ $tries -lt 50 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
same signal-nothing-left "$(pgrep -c -f "^\./hang-$$\$")$(ls tmp)" 0
exit $failed
