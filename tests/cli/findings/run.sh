#!/bin/sh
# run.sh DEADHEAT - findings of all commands: one schema, one set of forms, one finding for one cause.
. "$(dirname "$0")/../lib.sh"
root=$(cd "$here/../../.." && pwd)
schema=$root/docs/schema/findings.schema.json

cd "$work" || exit 1
cp "$here/causes.c" .
"$deadheat" cc -g -O1 -pthread -I"$root/tests/programs" causes.c -o causes || { bad compile "deadheat cc failed"; exit 1; }
"$deadheat" run --output=races.jsonl -- ./causes >out 2>streamed
same run-status "$?" 66

# document COMMAND ARGUMENTS...: prints it in the form $form; sets status, fills out and err
document() {
    "$deadheat" "$@" --format="$form" >out 2>err
    status=$?
}
valid() { # NAME
    same "$1" "$(python3 "$here/validate.py" "$schema" out 2>&1 | tail -1)" valid
}
json() { # PYTHON: d is what was printed
    python3 -c "import json
d = json.load(open('out'))
$1"
}

# ---- One schema ----
form=json
document report races.jsonl
valid schema-report
same report-provenance "$(json 'print({f["provenance"] for f in d["findings"]})')" "{'observed'}"
"$deadheat" record --quiet -o causes.dht -- ./causes >out 2>err
document analyze --detector=fasttrack,eraser,wcp --witness causes.dht
valid schema-recording
document analyze --detector=all,syncp --witness "$root/examples/guide/predicted.std"
valid schema-text-trace
same trace-provenances "$(json 'print(sorted({(f["provenance"], f.get("witness_checked")) for f in d["findings"]}, key=str))')" \
    "[('observed', None), ('predicted', True)]"
for options in '' --style=sound '--style=sound --limit=1'; do
    # shellcheck disable=SC2086 # several words
    document static $options -I"$root/tests/programs" -pthread causes.c
    valid "schema-static$(echo "$options" | tr -d ' ')"
done
same static-provenance "$(json 'print({f["provenance"] for f in d["findings"]})')" "{'possible'}"
# The schema bites: a member that it does not know, one of a wrong type, one that is missing.
document report races.jsonl
cp out good
for change in 's/"count":/"cuont":/' 's/"line":[0-9]*/"line":"x"/' 's/"provenance":"observed",//' 's/"version":2/"version":1/'; do
    sed "$change" good >out
    case $(python3 "$here/validate.py" "$schema" out 2>&1 | tail -1) in
    valid) bad schema-bites "accepted after $change" ;;
    *) ok schema-bites ;;
    esac
done

# ---- One cause ----
reports() { grep -c '^WARNING: deadheat: data race' "$1"; }
same streamed-once "$(reports streamed):$(grep -c '^deadheat: the same cause as dh' streamed)" 2:3
has streamed-variant streamed 'read by T3 at causes.c:27, earlier write by T2 at causes.c:17'
has streamed-summary streamed 'deadheat: 2 data races (5 variants)'
form=text
document report races.jsonl
same cause-once "$status:$(reports out)" 66:2
has cause-lists out '3 more pairs of places with the same cause (--all shows them):' \
    'read by T3 at causes.c:28, earlier write by T2 at causes.c:17, dh' 'read by T3 at causes.c:30'
same cause-summary "$(cat err)" 'deadheat: 2 data races (5 variants)'
document report --all races.jsonl
same all "$status:$(reports out):$(cat err)" '66:5:deadheat: 5 data races'
lacks all-lists-none out 'with the same cause'
"$deadheat" run --all -- ./causes >out 2>err
same run-all "$?:$(reports err)" 66:5
lacks run-all-no-variants err 'the same cause'
form=json
document report races.jsonl
same variants-json "$(json '
lines = lambda f: sorted(a["stack"][0]["line"] for a in f["accesses"])
print([(f["location"]["name"], lines(f), [lines(v) for v in f.get("variants", [])]) for f in d["findings"]],
      d["summary"]["findings"], d["summary"]["variants"])')" \
    "[('shared', [17, 26], [[17, 27], [17, 28], [17, 30]]), ('counter', [18, 31], [])] 2 5"
valid schema-variants
document report --all races.jsonl
same all-json "$(json 'print(len(d["findings"]), d["summary"]["variants"], any("variants" in f for f in d["findings"]))')" "5 5 False"
# A rule for one variant leaves the others: suppressions are about single races.
echo 'race:^counter$' >known.txt
document report --suppressions=known.txt races.jsonl
same suppressed "$status:$(json 'print(d["summary"]["findings"], d["summary"]["variants"], d["summary"]["suppressed"])')" "66:1 4 1"
printf '%s\n' 'm|fork(a)|1' 'm|fork(b)|2' 'a|w(x)|3' 'b|r(x)|5' 'b|r(x)|5' 'b|r(x)|6' 'a|w(y)|3' 'b|w(y)|3' >x.std
document analyze --detector=basicvc --list=events x.std
valid schema-events
same events-json "$(json 'print([(f["location"]["name"], f["count"], len(f.get("variants", []))) for f in d["findings"]])')" \
    "[('x', 2, 1), ('y', 1, 0)]"
document analyze --detector=basicvc --list=events --all x.std
same events-all "$(json 'print(len(d["findings"]))')" 4

# ---- One suppressor: rules are for what was thought possible and for traces, too ----
form=text
document static --suppressions=known.txt -I"$root/tests/programs" -pthread causes.c
same static-suppressed "$status:$(grep -c '^global .counter' out):$(grep -c '^global .shared' out)" 0:0:1
has static-suppressed-total out '; 1 suppressed;'
form=json
document static --suppressions=known.txt -I"$root/tests/programs" -pthread causes.c
valid schema-static-suppressed
same static-suppressed-json "$(json 'print({f["location"]["name"] for f in d["findings"]}, d["summary"]["suppressed"])')" "{'shared'} 1"
echo 'race:^x$' >known.txt
form=text
document analyze --suppressions=known.txt x.std
same analyze-suppressed "$status:$(grep -c '^  y: ' out):$(grep -c '^  x: ' out)" 66:1:0
has analyze-suppressed-count out '1 pair of locations suppressed'
echo 'race:^y$' >>known.txt
document analyze --list=none --suppressions=known.txt x.std
same analyze-all-suppressed "$status" 0
# The first race of a variable is suppressed, another one is not.
echo 'race:^5$' >known.txt
document analyze --suppressions=known.txt --detector=basicvc x.std
has analyze-next-of-variable out 'x: read by b at 6 (event 6)'
form=json
document analyze --suppressions=known.txt --detector=basicvc x.std
valid schema-analyze-suppressed
document analyze --suppressions=absent.txt x.std
same analyze-suppressions-absent "$status:$(cat err)" \
    "2:deadheat analyze: error: cannot read the suppressions 'absent.txt': No such file or directory"

# ---- Confirmed in the field ----
confirmed() { # MEMBERS: the first race has these
    sed '/"type":"race"/{s/"type":"race"/"type":"race",'"$1"'/;:a;n;ba}' races.jsonl >confirmed.jsonl
}
confirmed '"provenance":"confirmed","order":"both","consequence":"crash","detail":"SIGSEGV in worker"'
form=text
document report confirmed.jsonl
same confirmed-status "$status" 66
has confirmed out 'WARNING: deadheat: confirmed data race on global `shared[0]`' \
    'It was confirmed in the field, in both orders. Consequence: crash (SIGSEGV in worker).' 'WARNING: deadheat: data race on global `counter`'
form=json
document report confirmed.jsonl
valid schema-confirmed
same confirmed-json "$(json 'f = d["findings"][0]
print(f["provenance"], f["order"], f["consequence"], f["detail"], d["findings"][1]["provenance"])')" \
    "confirmed both crash SIGSEGV in worker observed"
form=sarif
document report confirmed.jsonl
same confirmed-sarif "$(json 'print([x["ruleId"] for x in d["runs"][0]["results"]])')" "['deadheat/confirmed-race', 'deadheat/data-race']"
form=json
confirmed '"provenance":"confirmed"'
document report confirmed.jsonl
valid schema-barely-confirmed
# An observation and two confirmations of one race: it is confirmed, in both orders.
{
    cat races.jsonl
    for order in shown reversed; do
        sed -n '/"type":"race"/{s/"type":"race"/"type":"race","provenance":"confirmed","order":"'$order'"/;p;q}' races.jsonl
    done
} >again.jsonl
document report again.jsonl
same confirmed-again "$(json 'f = d["findings"][0]
print(f["provenance"], f["order"], f["count"])')" "confirmed both 3"
confirmed '"provenance":"guessed"'
document report confirmed.jsonl
same provenance-unknown "$status:$(grep -c "'provenance' is neither observed nor confirmed" err)" 2:1

# ---- Versions: what is newer is refused with a sentence ----
sed 's/"v":2/"v":3/' races.jsonl >newer.jsonl
form=text
document report newer.jsonl
same newer-records "$status:$(cat out)" 2:
has newer-sentence err 'record version 3; this deadheat reads versions 1 and 2'

# ---- SARIF ----
form=sarif
document report races.jsonl
same sarif-report "$status:$(json '
r = d["runs"][0]["results"]
flows = [f["threadFlows"] for x in r for f in x.get("codeFlows", [])]
rules = d["runs"][0]["tool"]["driver"]["rules"]
print([(x["ruleId"], x["level"], len(x["relatedLocations"])) for x in r], {rules[x["ruleIndex"]]["id"] == x["ruleId"] for x in r},
      sorted({len(f) for f in flows}), [x["locations"][0]["physicalLocation"]["region"]["startLine"] for x in r],
      {x["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for x in r},
      all(v.startswith("dh") for x in r for v in x["partialFingerprints"].values()))')" \
    "66:[('deadheat/data-race', 'error', 8), ('deadheat/data-race', 'error', 2)] {True} [2] [26, 31] {'causes.c'} True"
document analyze --detector=eraser,wcp "$root/examples/guide/predicted.std"
same sarif-levels "$(json 'print(sorted({(x["ruleId"], x["level"]) for x in d["runs"][0]["results"]}))')" \
    "[('deadheat/data-race', 'warning'), ('deadheat/predicted-race', 'error')]"

# ---- HTML: one page that loads nothing, light and dark ----
form=html
document report races.jsonl
same html-report "$status:$(grep -c '<details class=v' out):$(grep -c 'class=p id=dh' out)" 66:2:2
has html-has out '<code>shared' 'causes.c:17' 'other places with the same cause' 'prefers-color-scheme:dark' '<b>5</b>variants'
lacks html-loads-nothing out 'http'
cp out report.html
document analyze --detector=fasttrack,eraser "$root/examples/guide/locks.std"
cp out analyze.html
has html-analyze out '<code>fasttrack</code>' 'no races' 'write'
printf 'a|fork(b)|1\na|w(<&")|2\nb|w(<&")|3\n' >odd.std
document analyze odd.std
has html-escaped out '&lt;&amp;&quot;'
lacks html-no-markup out '<&'
. "$here/../page.sh"
if [ -n "$browser" ]; then
    fits html-fits-report report.html
    fits html-fits-analyze analyze.html
    same html-filter "$(look 800 report.html '
        const q = d.getElementById("q"), shown = () => [...d.querySelectorAll(".p")].filter(p => !p.hidden).length, all = shown();
        q.value = "memcpy"; q.dispatchEvent(new w.Event("input"));
        const some = shown();
        q.value = "causes.c:30"; q.dispatchEvent(new w.Event("input"));
        return all + " " + some + " " + shown() + " " + d.getElementById("c").textContent')" "2 2 1 1 race"
else
    skip page "there is no browser"
fi

exit $failed
