#!/bin/sh
# run.sh DEADHEAT - `deadheat analyze`, `deadheat detectors` and `deadheat trace` as a user calls them.
. "$(dirname "$0")/../lib.sh"
traces=$(cd "$(dirname "$0")/../../traces" && pwd)

run() { # ARGUMENTS: sets status, fills out and err
    "$deadheat" "$@" >out 2>err
    status=$?
}

cd "$work" || exit 1

# Exit status and text.
run analyze "$traces/different_locks.std"
same races-exit "$status" 66
has races-counted out "fasttrack (precise): 1 racy variable, 1 racy event at 1 location, 1 pair of locations"
has races-listed out "x: write by a at 6 (event 6), earlier write by main at 3"
same races-quiet "$(cat err)" ""
run analyze "$traces/disciplined.std"
same clean-exit "$status" 0
has clean-said out "fasttrack (precise): no races"
run analyze --detector=eraser,fasttrack "$traces/fork_join_handover.std"
same any-detector-counts "$status" 66
has several-first out "eraser (unsound): 1 racy variable, 3 racy events"
has several-second out "fasttrack (precise): no races"
run analyze --list=events --all --limit=1 --detector=eraser "$traces/fork_join_handover.std"
has limit out "and 2 more (--limit=0 shows all)"
run analyze --list=none "$traces/different_locks.std"
same list-none "$(grep -c 'earlier' out)" 0
"$deadheat" analyze - <"$traces/different_locks.std" >out 2>err
same stdin-exit "$?" 66
has stdin-named out "standard input: 7 events"
run analyze --detector=all "$traces/disciplined.std"
same all-silent "$status" 0

# Next to nothing.
: >empty.std
run analyze --detector=all,cp,syncp,osr empty.std
same empty-exit "$status" 2
same empty-silent "$(grep -c ' racy ' out)" 0
printf 'T|w(x)|1' >single.std
run analyze --detector=all,cp,syncp,osr --format=json single.std
same single-exit "$status" 0
same single-reports "$(python3 -c 'import json
d = json.load(open("out"))["detectors"]
print(len(d) > 12, sum(x["reports"] for x in d), [x["error"] for x in d if "error" in x])')" "True 0 []"

# A predicted race shows its witness when asked.
run analyze --detector=syncp "$traces/wcp_and_syncp_1.std"
has witness-told out "a witness of 4 events, checked (--witness shows it)"
run analyze --detector=syncp --witness "$traces/wcp_and_syncp_1.std"
has witness-shown out "a witness of 4 events, checked: 1 5 2 6"
run analyze --detector=syncp,fasttrack --witness --format=json "$traces/wcp_and_syncp_1.std"
same witness-json "$(python3 -c 'import json
print([(f["detector"], f["provenance"], f["witness"]) for f in json.load(open("out"))["findings"]])')" "[('syncp', 'predicted', [1, 5, 2, 6])]"

# Detectors that read the trace once get theirs from a second reading. What has none says why.
witnesses() { # NAME EXPECTED: of the races in out, per detector
    same "$1" "$(python3 -c 'import json
print([(f["detector"], f.get("witness", f.get("witness_length")), f["witness_checked"], f.get("no_witness", "")[:22])
    for f in json.load(open("out"))["findings"]])')" "$2"
}
run analyze --detector=wcp --witness "$traces/wcp_only_1.std"
has once-shown out "a witness of 6 events, checked: 1 5 6 2 3 7"
run analyze --detector=shb --witness "$traces/read_shared_then_write.std"
has shb-shown out "a witness of 7 events, checked: 1 2 3 4 6 5 7"
run analyze --detector=wcp,shb --witness --list=events --all --format=json "$traces/hb_second_not_real_1.std"
witnesses once-json "[('wcp', [1, 2, 3], True, ''), ('wcp', None, False, 'found: no reordering o'), ('shb', [1, 2, 3], True, '')]"
run analyze --detector=wcp --list=events --all "$traces/hb_second_not_real_1.std"
has once-missing out "no witness found: no reordering of the mutexes' sections shows it"
run analyze --detector=wcp --hold=6 --format=json "$traces/wcp_only_1.std"
same once-bound-exit "$status" 66
witnesses once-bound "[('wcp', None, False, 'found within the bound')]"
run analyze --detector=wcp --hold=7 --format=json "$traces/wcp_only_1.std"
witnesses once-within "[('wcp', 6, True, '')]"
run analyze --detector=wcp --hold=0 "$traces/wcp_only_1.std"
has once-not-held out "no witness found within the bound: the race is beyond the events held; --hold=14 holds it"
run analyze --detector=wcp,syncp --hold=0 --format=json "$traces/wcp_only_1.std"
witnesses once-copy "[('wcp', 6, True, '')]"
"$deadheat" analyze --detector=wcp - <"$traces/wcp_only_1.std" >out 2>err
has once-redirected out "a witness of 6 events, checked"
cat "$traces/wcp_only_1.std" | "$deadheat" analyze --detector=wcp - >out 2>err
has once-piped out "no witness made: the trace cannot be read a second time"

# The pair that is reported first has no witness, another of the same event has.
printf '%s\n' 'm|fork(a)|1' 'm|fork(b)|2' 'a|w(x)|3' 'a|w(y)|4' 'b|r(y)|5' 'c|w(x)|6' 'b|w(x)|7' >other.std
run analyze --detector=wcp --witness --list=events --all other.std
has other-pair out "x: write by b at 7 (event 7), earlier write by c at 6 (event 6)"
same other-witness "$(grep -c 'checked: 1 2 3 4 5 6 7$' out)" 1

# JSON.
run analyze --format=json --detector=basicvc,shb "$traces/hb_second_not_real_1.std"
same json-exit "$status" 66
same json-counts "$(python3 -c 'import json
d = json.load(open("out"))
print(d["version"], d["trace"]["events"], [(x["name"], x["events"], x["variables"], x["first_event"]) for x in d["detectors"]],
    [(f["detector"], f["accesses"][0]["event"]) for f in d["findings"]])')" \
    "2 4 [('basicvc', 2, 1, 3), ('shb', 1, 1, 3)] [('basicvc', 3), ('shb', 3)]"

# Oddities are warnings, impossibilities errors with their line.
run analyze "$traces/forked_twice.std"
same warning-exit "$status" 0
has warning err "forked_twice.std:5: threads forked twice: 1"
printf 'T0|acq(L)|1\nT1|acq(L)|2\n' >bad.std
run analyze bad.std
same bad-exit "$status" 2
has bad-line err "deadheat analyze: error: bad.std:2: thread T1 acquires lock L, which thread T0 holds since line 1"
same bad-no-report "$(cat out)" ""
printf 'T0|w(x)|1\n\n' >blank.std
run analyze blank.std
has blank err "blank.std:2: blank line"
head -c 4096 /dev/zero >zero.std
run analyze zero.std
same binary-exit "$status" 2
run analyze missing.std
same missing-exit "$status" 2
has missing err "cannot open missing.std"
run analyze .
same directory-exit "$status" 2

# A result that cannot be written is no result.
"$deadheat" analyze "$traces/different_locks.std" >/dev/full 2>err
same full-exit "$?" 2
has full err "deadheat: error: cannot write to standard output: No space left on device"
"$deadheat" analyze --format=json "$traces/different_locks.std" >&- 2>err
same closed-exit "$?" 2

# Usage.
run analyze --detector=fastrack "$traces/disciplined.std"
same unknown-exit "$status" 2
has unknown-near err "did you mean 'fasttrack'?"
run analyze --detektor=x "$traces/disciplined.std"
has unknown-option err "did you mean '--detector'?"
run analyze --limit=x "$traces/disciplined.std"
has bad-number err "must be a number"
run analyze
has no-trace err "which trace?"
run help analyze
same help-exit "$status" 0
has help-example out "deadheat analyze --detector=fasttrack,eraser"

# The list.
run detectors
same detectors-exit "$status" 0
has detectors-fasttrack out "fasttrack   precise"
run detectors --format=json
same detectors-json "$(python3 -c 'import json
d = {x["name"]: x["guarantee"] for x in json.load(open("out"))["detectors"]}
print(d["eraser"], d["fasttrack"], d["multilock"])')" "unsound precise hybrid"

# Looking at a trace.
run trace info "$traces/nested_locks_pairwise.std"
same info-exit "$status" 0
has info-events out "nested_locks_pairwise.std: 17 events"
run trace info --format=json "$traces/forked_twice.std"
same info-json "$(python3 -c 'import json
d = json.load(open("out"))
print(d["threads"], d["operations"]["fork"], d["warnings"][0]["count"])')" "2 2 1"
run trace cat --thread=a,b --variable=x "$traces/nested_locks_pairwise.std"
same cat "$(tr '\t\n' ' |' <out)" "10 a|w(x)|10|15 b|w(x)|15|"
run trace cat --range=2-3 "$traces/nested_locks_pairwise.std"
same cat-range "$(cut -f1 out | tr '\n' ' ')" "2 3 "
run trace cat --range=16- "$traces/nested_locks_pairwise.std"
same cat-open-range "$(cut -f1 out | tr '\n' ' ')" "16 17 "
printf 'T0|w(x)|+1\r\nT1|begin(7)|2' >odd.std
run trace convert -o new.std odd.std
same convert-exit "$status" 0
same convert "$(cat new.std)" "$(printf 'T0|w(x)|1\nT1|begin|2')"
run trace convert -o - "$traces/disciplined.std"
if cmp -s out "$traces/disciplined.std"; then ok convert-same; else bad convert-same "the copy differs"; fi
run trace convert odd.std
has convert-where err "Give -o FILE"
run trace show odd.std
has verb err "info, cat or convert"
run trace cat --range=x odd.std
has range err "must be FROM-TO"
exit $failed
