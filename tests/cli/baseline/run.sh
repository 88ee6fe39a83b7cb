#!/bin/sh
# run.sh DEADHEAT - --baseline of run, report, analyze and static: what is in it is counted, and only the rest is told.
. "$(dirname "$0")/../lib.sh"
root=$(cd "$here/../../.." && pwd)
schema=$root/docs/schema/findings.schema.json

cd "$work" || exit 1
cp "$here/two.c" .
"$deadheat" cc -g -O1 -pthread -I"$root/tests/programs" two.c -o two || { bad compile "deadheat cc failed"; exit 1; }

# dh ARGUMENTS...: sets status, fills out and err
dh() {
    "$deadheat" "$@" >out 2>err
    status=$?
}
told() { # how many races are told in full, in out and err
    cat out err | grep -c '^WARNING: deadheat: data race'
}
json() { # PYTHON: d is what was printed
    python3 -c "import json
d = json.load(open('out'))
$1"
}
valid() { # NAME
    same "$1" "$(python3 "$here/../findings/validate.py" "$schema" out 2>&1 | tail -1)" valid
}

# Three sets of races: one, one and a new one, and these with a variant of the first.
"$deadheat" run --report=0 --output=one.jsonl -- ./two >out 2>err
"$deadheat" run --report=0 --output=mixed.jsonl -- ./two a >out 2>err
"$deadheat" run --report=0 --output=variant.jsonl -- ./two a b >out 2>err
dh report --format=json one.jsonl
cp out one.json
new=$(json 'print(d["findings"][0]["fingerprint"])')
old=$(json 'print(d["findings"][0]["earlier_fingerprints"][0])')
starts versions "$new $old" dh2-
starts version-1 "$old" dh1-
printf '# known\n\n  %s   # the counter\r\n' "$new" >list.txt
printf '%s\n' "$old" >old.txt
printf '# nothing yet\n' >none.txt

# ---- report ----
for baseline in one.json one.jsonl list.txt old.txt; do
    dh report --baseline=$baseline one.jsonl
    same report-known-$baseline "$status:$(told)" 0:0
    has report-known-says-$baseline err 'deadheat: no new data races' 'deadheat: 1 finding is in the baseline'
    dh report --baseline=$baseline mixed.jsonl
    same report-mixed-$baseline "$status:$(told)" 66:1
    has report-mixed-new-$baseline out 'data race on global `new_counter`'
    lacks report-mixed-known-$baseline out 'data race on global `known'
    has report-mixed-says-$baseline err 'deadheat: 1 data race' 'deadheat: 1 finding is in the baseline'
done
dh report --baseline=none.txt mixed.jsonl
same report-new "$status:$(told)" 66:2
lacks report-new-says err 'in the baseline'
dh report --baseline=/dev/null mixed.jsonl
same report-empty "$status:$(told)" 66:2
dh report mixed.jsonl
same report-without "$status:$(told)" 66:2
python3 -m json.tool one.json >pretty.json
dh report --baseline=pretty.json one.jsonl
same report-any-layout "$status:$(told)" 0:0

# What is a variant of a known race makes the finding new, until it is known, too.
dh report --format=json variant.jsonl
cp out variant.json
same variant-is-one "$(json 'print([len(f.get("variants", [])) for f in d["findings"]])')" '[1, 0]'
dh report --baseline=mixed.jsonl variant.jsonl
same variant-new "$status:$(told)" 66:1
has variant-new-says err 'deadheat: 1 data race' 'deadheat: 1 finding is in the baseline'
dh report --baseline=mixed.jsonl --format=json variant.jsonl
same variant-states "$(json 'print([(f["baseline"], [v["baseline"] for v in f.get("variants", [])]) for f in d["findings"]])')" \
    "[('new', ['new']), ('known', [])]"
dh report --baseline=variant.json variant.jsonl
same variant-known "$status:$(told)" 0:0
has variant-known-says err 'deadheat: 2 findings are in the baseline'

# Programs are told which.
dh report --baseline=list.txt --format=json mixed.jsonl
same json-status "$status" 66
valid json-schema
same json-states "$(json 'print(sorted((f["baseline"], f["location"]["name"]) for f in d["findings"]), d["summary"]["findings"], d["summary"]["known"])')" \
    "[('known', 'known'), ('new', 'new_counter')] 2 1"
cp out again.json
dh report --baseline=again.json mixed.jsonl
same json-as-baseline "$status:$(told)" 0:0
dh report --format=json mixed.jsonl
lacks json-without out '"baseline"'
dh report --baseline=list.txt --format=sarif mixed.jsonl
same sarif-states "$(json 'print(sorted(r["baselineState"] for r in d["runs"][0]["results"]))')" "['new', 'unchanged']"
dh report --format=sarif mixed.jsonl
lacks sarif-without out baselineState
dh report --baseline=list.txt --format=html mixed.jsonl
has html-new out "id=dh2-" '<b>1</b>in the baseline'
lacks html-known out "id=$new"

# ---- run ----
for baseline in one.json one.jsonl list.txt old.txt; do
    dh run --baseline=$baseline -- ./two
    same run-known-$baseline "$status:$(told)" 0:0
    same run-known-says-$baseline "$(cat err)" 'deadheat: 1 finding is in the baseline'
    dh run --baseline=$baseline -- ./two a
    same run-mixed-$baseline "$status:$(told)" 66:1
    has run-mixed-says-$baseline err 'deadheat: 1 data race' 'deadheat: 1 finding is in the baseline'
done
dh run --baseline=none.txt -- ./two
same run-new "$status:$(told)" 66:1
dh run --baseline=list.txt -- ./two a b
same run-variant "$status:$(told)" 66:2
lacks run-variant-refers err "the same cause as $new"
# The program's own status as well, whoever starts it, and in whichever directory.
# shellcheck disable=SC2016 # for the inner shell
dh run --baseline=list.txt -- sh -c 'cd / && "$0"/two; echo $?' "$work"
same run-below "$status:$(cat out)" 0:0
DEADHEAT_OPTIONS=baseline=list.txt ./two >out 2>err
same alone-known "$?:$(told)" 0:0
DEADHEAT_OPTIONS=baseline=list.txt ./two a >out 2>err
same alone-mixed "$?:$(told)" 66:1
DEADHEAT_OPTIONS=baseline=list.txt:report=0:output=alone.jsonl ./two >out 2>err
same alone-silent "$?:$(told)" 0:0
dh run --baseline=one.jsonl --output=one.jsonl -- ./two
same run-output "$status:$(cat err)" "2:deadheat run: error: cannot write 'one.jsonl': this command reads it"

# ---- analyze ----
"$deadheat" record --quiet -o two.dht -- ./two a >out 2>err
for baseline in one.json list.txt old.txt; do
    dh analyze --baseline=$baseline two.dht
    same analyze-mixed-$baseline "$status:$(told)" 66:1
    has analyze-mixed-says-$baseline out '1 finding is in the baseline' 'data race on global `new_counter`'
    lacks analyze-mixed-known-$baseline out 'data race on global `known'
done
dh analyze --baseline=mixed.jsonl two.dht
same analyze-known "$status:$(told)" 0:0
has analyze-known-says out '2 findings are in the baseline'
dh analyze --baseline=mixed.jsonl --list=none two.dht
same analyze-none-known "$status" 0
dh analyze --baseline=list.txt --list=none two.dht
same analyze-none-mixed "$status" 66
dh analyze --baseline=none.txt two.dht
same analyze-new "$status:$(told)" 66:2
dh analyze --baseline=list.txt --limit=1 two.dht
same analyze-limit "$status:$(told)" 66:1
lacks analyze-limit-more out 'more'
dh analyze --baseline=list.txt --format=json two.dht
same analyze-json "$status:$(json 'print(sorted(f["baseline"] for f in d["findings"]), d["summary"]["known"])')" "66:['known', 'new'] 1"
valid analyze-json-schema
for options in '' --list=events '--detector=all,syncp'; do
    name=$(echo "analyze-text-trace$options" | tr ',= ' '---')
    # shellcheck disable=SC2086 # none, or one
    dh analyze $options --format=json "$root/examples/guide/queue.std"
    cp out trace.json
    # shellcheck disable=SC2086
    dh analyze $options "$root/examples/guide/queue.std"
    before=$status
    # shellcheck disable=SC2086
    dh analyze $options --baseline=trace.json "$root/examples/guide/queue.std"
    same "$name" "$before:$status" 66:0
done

# ---- static: its status tells nothing of pairs ----
static() {
    dh static "$@" -I"$root/tests/programs" -pthread two.c
}
pairs() {
    grep -c '^  P[0-9]' out
}
static --format=json
cp out static.json
valid static-without-schema
all=$(json 'print(len(d["findings"]))')
static
same static-all "$status:$(pairs)" "0:$all"
static --baseline=static.json
same static-known "$status:$(pairs)" 0:0
has static-known-says out "$all findings are in the baseline" ': 0 pairs'
python3 -c 'import json; print(json.load(open("static.json"))["findings"][0]["fingerprint"])' >pair.txt
static --baseline=pair.txt
same static-mixed "$status:$(pairs)" "0:$((all - 1))"
has static-mixed-says out '1 finding is in the baseline'
static --baseline=none.txt
same static-new "$status:$(pairs)" "0:$all"
lacks static-new-says out 'in the baseline'
static --baseline=pair.txt --format=json
valid static-schema
same static-states "$(json 'print([f["baseline"] for f in d["findings"]].count("known"), len(d["findings"]), d["summary"]["known"])')" "1 $all 1"
static --baseline=pair.txt --format=sarif
same static-sarif "$(json 'print([r["baselineState"] for r in d["runs"][0]["results"]].count("unchanged"))')" 1

# ---- Fixed: in the baseline, and not seen ----
dh report --format=json --all variant.jsonl
json 'print(*sorted(f["fingerprint"] for f in d["findings"]), sep="\n")' >three.txt
dh report --baseline=variant.json one.jsonl
same fixed-status "$status:$(told)" 0:0
has fixed-says err 'deadheat: 2 findings of the baseline were not seen, and may be fixed:' '  dh2-' '; global new_counter'
lacks fixed-not-known err "  $new"
dh report --baseline=three.txt mixed.jsonl
has fixed-of-list err 'deadheat: 1 finding of the baseline was not seen'
dh report --baseline=three.txt variant.jsonl
lacks fixed-none err 'not seen'
dh report --baseline=variant.json --format=json one.jsonl
valid fixed-schema
same fixed-json "$(json 'print(len(d["fixed"]), d["fixed"] == sorted(d["fixed"], key=lambda f: f["fingerprint"]), len(d["findings"]))')" \
    '2 True 1'
dh report --baseline=list.txt --format=json mixed.jsonl
lacks fixed-json-none out '"fixed"'
dh report --baseline=variant.json --format=sarif one.jsonl
same fixed-sarif "$(json 'print(sorted(r["baselineState"] for r in d["runs"][0]["results"]))')" "['absent', 'absent', 'unchanged']"
dh report --baseline=variant.json --format=html one.jsonl
has fixed-html out 'In the baseline, and not seen' 'global new_counter'
dh run --baseline=variant.json -- ./two
same fixed-run-status "$status" 0
has fixed-run err '2 findings of the baseline were not seen'
dh analyze --baseline=three.txt two.dht
has fixed-analyze out '1 finding of the baseline was not seen'
static --baseline=three.txt
lacks fixed-static out 'not seen'
printf '%s\n' dh2-000000000000 >>three.txt
static --baseline=three.txt
has fixed-static-one out '1 finding of the baseline was not seen' '  dh2-000000000000'
# What is suppressed is not compared, so its entry is of no use any more.
echo 'race:^new_counter$' >new-counter.supp
dh report --baseline=mixed.jsonl --suppressions=new-counter.supp mixed.jsonl
has fixed-suppressed err '1 finding of the baseline was not seen'

# Names of C++ are told as people write them.
printf '{"version":2,"findings":[{"fingerprint":"dh2-0123456789ab","identity":"2|read _ZN5Queue3popEv@q.cc+3:9|write _ZZ4mainENK3$_0clEv+1:2|global _ZN5Queue4sizeE"}]}' >cxx.json
dh report --baseline=cxx.json one.jsonl
has fixed-demangled err "  dh2-0123456789ab: read Queue::pop()@q.cc+3:9; write main::\$_0::operator()() const+1:2; global Queue::size"

# ---- Updating ----
dh report --baseline=made.json --update-baseline mixed.jsonl
same update-status "$status:$(told)" 0:2
has update-says err 'deadheat: the baseline made.json: 2 added, 0 removed, 0 kept'
same update-lines "$(grep -c '^{"fingerprint":"dh2-' made.json)" 2
same update-sorted "$(grep '^{"f' made.json)" "$(grep '^{"f' made.json | LC_ALL=C sort)"
lacks update-no-directories made.json "$work"
cp made.json before.json
dh report --baseline=made.json --update-baseline mixed.jsonl
same update-again "$status:$(cmp before.json made.json && echo same)" 0:same
# What two branches add, at the same place even, is merged by git into a baseline of both.
printf 'race:*\n' >all.supp
dh report --baseline=base.json --update-baseline --suppressions=all.supp mixed.jsonl
cp base.json left.json && cp base.json right.json
dh report --baseline=left.json --update-baseline one.jsonl
printf 'fingerprint:%s\n' "$new" >one.supp
dh report --baseline=right.json --update-baseline --suppressions=one.supp mixed.jsonl
same update-branches "$(grep -c fingerprint left.json):$(grep -c fingerprint right.json)" 1:1
if git merge-file -p --union left.json base.json right.json >merged.json 2>err; then
    dh report --baseline=merged.json mixed.jsonl
    same update-merged "$status:$(told)" 0:0
else
    skip update-merged "there is no git: $(cat err)"
fi
# Another run of the same program has other addresses, threads and numbers, and the same baseline.
"$deadheat" run --report=0 --output=mixed2.jsonl -- ./two a >out 2>err
dh report --baseline=made2.json --update-baseline mixed2.jsonl
same update-other-run "$(cmp made.json made2.json && echo same)" same
dh report --baseline=made.json mixed.jsonl
same update-known "$status:$(told)" 0:0
dh report --baseline=made.json --update-baseline variant.jsonl
has update-adds err 'deadheat: the baseline made.json: 1 added, 0 removed, 2 kept'
dh report --baseline=made.json --update-baseline one.jsonl
has update-removes err 'deadheat: the baseline made.json: 0 added, 2 removed, 1 kept'
dh report --update-baseline --baseline=old.json --suppressions=new-counter.supp mixed.jsonl
has update-without-suppressed err 'old.json: 1 added, 0 removed, 0 kept'
cp old.txt old-list.txt
dh report --baseline=old-list.txt --update-baseline one.jsonl
has update-version-1 err '0 added, 0 removed, 1 kept'
has update-version-2 old-list.txt "$new"
# What did not come to its end may have seen less, so nothing is forgotten.
grep new_counter before.json | grep -o 'dh2-[0-9a-f]*' >kept.json
grep -v '"type":"end"' one.jsonl >killed.jsonl
dh report --baseline=kept.json --update-baseline killed.jsonl
has update-partial err '1 added, 0 removed, 1 kept; nothing is removed, since not everything was seen'
# What cannot be read changes nothing.
printf 'x\n' | cat - one.jsonl >broken.jsonl
cp before.json kept.json
dh report --baseline=kept.json --update-baseline broken.jsonl
same update-broken "$status:$(cmp before.json kept.json && echo same)" 2:same
has update-broken-says err 'deadheat: the baseline kept.json is left as it was'
dh report --baseline=/nowhere/made.json --update-baseline one.jsonl
same update-unwritable "$status" 2
has update-unwritable-says err "deadheat report: error: cannot write the baseline '/nowhere/made.json': No such file or directory"
dh run --baseline=run.json --update-baseline -- ./two a
same update-run "$status:$(told)" 0:2
lacks update-run-first err 'cannot be read'
same update-run-same "$(cmp run.json before.json && echo same)" same
# shellcheck disable=SC2016 # for the inner shell
dh run --baseline=run.json --update-baseline -- sh -c '"$0"; exit 3' ./two
same update-run-fails "$status" 3
has update-run-partial err '0 added, 0 removed, 2 kept; nothing is removed'
dh run --baseline=run.json --update-baseline --force -- true
same update-run-nothing "$status:$(cmp run.json before.json && echo same)" 0:same
dh run --baseline=run.json --update-baseline -- ./two
has update-run-removes err '0 added, 1 removed, 1 kept'
dh analyze --baseline=trace.json2 --update-baseline two.dht
same update-analyze "$status:$(cmp trace.json2 before.json && echo same)" 0:same
static --baseline=pairs.json --update-baseline
same update-static "$status:$(grep -c '^{"fingerprint"' pairs.json)" "0:$all"
static --baseline=pairs.json
same update-static-known "$(pairs)" 0
static --baseline=pairs.json --update-baseline --explain=P1
same update-explain "$status" 2
for command in run report analyze static; do
    dh $command --update-baseline ./two
    same "update-needs-file-$command" "$status:$(cat err)" \
        "2:deadheat $command: error: --update-baseline needs --baseline=FILE, to be written"
done

# ---- What is no baseline: one sentence, status 2, and nothing is done ----
echo 'what is known' >garbage
printf '{"version":2,\n"findings":[' >cut.json
printf '{"version":3,"findings":[]}' >newer.json
printf '{"version":2,"findings":[{"summary":"x"}]}' >bare.json
printf '{"version":2,"findings":[{"fingerprint":"dh2-xyz"}]}' >odd.json
printf '{"version":2,"findings":{}}' >object.json
printf '{"$schema":"x","version":"2.1.0","runs":[]}' >other.json
printf '%s\nfingerprint:%s\n' "$new" "$new" >suppressions.txt
head -c 100 one.jsonl >cut.jsonl
printf 'dh2-0123\0' >zero
mkdir directory
forms='; a baseline is a document of --format=json, race records, or a list of fingerprints'
refused() { # NAME FILE SENTENCE
    for command in run report analyze static; do
        case $command in
        run) set -- "$1" "$2" "$3" -- sh -c 'touch started' ;;
        report) set -- "$1" "$2" "$3" one.jsonl ;;
        analyze) set -- "$1" "$2" "$3" two.dht ;;
        static) set -- "$1" "$2" "$3" -I"$root/tests/programs" two.c ;;
        esac
        name=$1 file=$2 sentence=$3
        shift 3
        dh $command --baseline="$file" "$@"
        same "$name-$command" "$status:$(wc -l <err):$(wc -c <out)" 2:1:0
        starts "$name-$command-says" "$(cat err)" "deadheat $command: error: cannot use the baseline '$file': $sentence"
        set -- "$name" "$file" "$sentence"
    done
}
refused missing nowhere.json 'No such file or directory'
refused directory directory 'Is a directory'
refused endless /dev/zero 'it has more than 64 MB'
refused garbage garbage "line 1 is no fingerprint, which is dh2- and 12 hex digits$forms"
refused suppressions suppressions.txt 'line 2 is no fingerprint'
refused zero-byte zero 'line 1 is no fingerprint'
refused program two 'line 1 is no fingerprint'
refused cut-document cut.json 'line 1 is no race record: '
refused cut-records cut.jsonl 'line 1 is no race record: '
refused other-json other.json 'line 1 is no race record: '
refused newer newer.json 'it is a findings document of another version than 2'
refused bare bare.json 'it is a findings document, but not all of its findings have fingerprints'
refused odd odd.json 'it is a findings document, but not all of its findings have fingerprints'
refused object object.json 'it is a findings document, but not all of its findings have fingerprints'
if [ -e started ]; then bad not-started "the program was run"; else ok not-started; fi
for command in run report analyze static; do
    dh $command --baseline
    same "no-value-$command" "$status:$(cat err)" "2:deadheat $command: error: --baseline needs a value: --baseline=VALUE"
    dh $command --help
    has "help-$command" out --baseline=
done
exit $failed
