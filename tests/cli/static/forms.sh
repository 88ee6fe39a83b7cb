# Sourced by run.sh: what is printed, from tables whose contents are known.

echo 'int main(void) { return 0; }' >empty.c
clang-19 -o empty empty.c || exit 1
program() { # NAME KIND: a program that carries the table
    "$sample" "$work" ${2:+"$2"} >"$1.table" && objcopy --add-section ".deadheat.pairs=$1.table" empty "$1"
}
program queue
program none none
program odd odd
program many many

# Text: grouped by variable, with both lines, locks, threads and reasons. A pair is no race seen: status 0.
run ./queue
same text-exit "$status" 0
same text-quiet "$(cat err)" ""
same text-groups "$(grep -c 'pairs\{0,1\}$' out)" 3
# shellcheck disable=SC2016 # the backquotes are printed
has text-variable out 'global `done` (int), declared at queue.c:14: 1 pair'
has text-line-one out '18 | while (!done)'
has text-line-two out '38 | done = 1;'
has text-flag out 'the flag of a spin loop'
has text-threads out '(several at once)'
has text-same-site out 'and the same, in another thread'
has text-why out 'why: several threads may run the same code at the same time'
has text-total out '4 pairs that may race, on 3 variables'
has text-assumptions out 'apply to 2 places'
lacks text-no-colour out "$(printf '\033')"
# shellcheck disable=SC2016
lacks text-relay-drops out '.length'
run --color=always ./queue
has text-colour out "$(printf '\033[1m')"
run --summary ./queue
same summary-lines "$(wc -l <out)" 6

# Styles, and what is assumed beyond them.
run --style=sound ./queue
# shellcheck disable=SC2016
has sound-locks out 'holding `(struct queue).lock`'
has sound-total out '5 pairs that may race, on 4 variables (sound'
run --assume=partition ./queue
has assume-drops out '3 pairs that may race, on 2 variables (relay: no lock in common; assuming partition, published, owned, exit, callbacks, members dropped 1 more'
run --assume=barriers,published ./queue
has assume-others out '4 pairs that may race'
run --assume=partition --no-assume=published,owned,exit,callbacks,members ./queue
has assume-less out 'assuming partition dropped 1 more'
# Each style says how many pairs the other has: what that one prints, with the same options, also of bundles.
for program in queue many; do
    for options in '' --assume=partition --no-assume=all; do
        # shellcheck disable=SC2086 # none or one word
        run --style=relay --summary $options ./$program
        relay=$(sed -n 's/^[^ ]*: \(at most \)\{0,1\}\([0-9]*\) pairs\{0,1\} that may race.*/\2/p' out)
        sound=$(sed -n 's/.*; \(at most \)\{0,1\}\([0-9]*\) with --style=sound)$/\2/p' out)
        # shellcheck disable=SC2086
        run --style=sound --summary $options ./$program
        same "other-style-$program$options" "$(sed -n 's/^[^ ]*: \(at most \)\{0,1\}\([0-9]*\) pairs\{0,1\} that may race.*; \(at most \)\{0,1\}\([0-9]*\) with --style=relay)$/\2 \4/p' out)" "$sound $relay"
    done
done
run --limit=1 ./queue
has limit out 'and 1 more (--limit=0 shows all)'
run --stats ./queue
has stats-assumed out '2  inline-asm  inline assembly touches no shared memory'
has stats-example out 'queue.c:7 in spin'
has stats-phase out 'points-to'
has stats-counter out '300  instructions'

# One pair, by its number, its id and its lines; also if the style does not show it.
run --explain=P4 ./queue
same explain-exit "$status" 0
# shellcheck disable=SC2016
has explain-lock out 'It always holds `(struct queue).lock`'
has explain-thread out 'a thread created by pthread_create in main at queue.c:34:9, several at once'
has explain-source out '>    21 |     queue->length--;'
has explain-sets out 'It is in the style sound'
cp out explained
run --explain 4 ./queue
same explain-number "$(cat out)" "$(cat explained)"
run --explain="$(sed -n 's/^P4, pair \([0-9a-f]*\).*/\1/p' explained)" ./queue
same explain-id "$(cat out)" "$(cat explained)"
run --explain=queue.c:36,queue.c:21 ./queue
same explain-lines "$(cat out)" "$(cat explained)"
run --explain=P5 ./queue
has explain-assume out '--assume=partition drops it'
refused explain-none "there is no pair 'P9'" --explain=P9 ./queue
echo before >written
refused explain-none-output "there is no pair 'P9'" --explain=P9 --output=written ./queue
same explain-none-writes-nothing "$(cat written)" before
refused explain-words "there is no pair 'x.c:1,y.c:2'" --explain=x.c:1,y.c:2 ./queue
refused explain-json "cannot be combined with --format=json" --explain=P1 --format=json ./queue

# No threads.
run ./none
same none-exit "$status" 0
same none-text "$(head -1 out)" "./none: no thread is ever created"
run --format=json ./none
same none-json "$(json 'print(d["no_threads"], d["pairs"], d["variables"], d["findings"])')" "True 0 [] []"
run --format=html ./none
has none-html out 'No thread is ever created.'

# JSON and SARIF: valid for every table, and with what they must have.
for table in queue none odd many; do
    for form in json sarif; do
        run --style=sound --format=$form ./$table
        same "$form-$table" "$status $(json 'print(d["version"])')" "0 $([ $form = json ] && echo 2 || echo 2.1.0)"
    done
done
run --format=json ./queue
same json-members "$(json 'f = d["findings"][2]
v = f["location"]
w, m = f["accesses"]
print(d["style"], d["pairs"], d["variables"][1]["display"], d["variables"][1]["pairs"], v["display"], v["kind"], f["pair"],
      f["provenance"], f["flags"], f["why"], w["kind"], w["stack"][0]["line"], w["text"], w["threads"][0]["instances"],
      m["threads"][0]["kind"], m["locks"], len(f["id"]), d["counters"]["instructions"])')" \
    "relay 4 stats.hits 2 stats.hits global 1 possible ['relay', 'sound'] ['two-threads', 'no-locks'] write 24 stats.hits++; many main [] 16 300"
run --format=sarif ./queue
same sarif-members "$(json 'r = d["runs"][0]
x = r["results"]
rules = r["tool"]["driver"]["rules"]
print(len(x), r["tool"]["driver"]["name"], x[0]["level"], x[1]["level"],
      all(rules[i["ruleIndex"]]["id"] == i["ruleId"] and i["message"]["text"] for i in x),
      all(l["physicalLocation"]["region"]["startLine"] > 0 for i in x for l in i["locations"] + i["relatedLocations"]),
      len({i["partialFingerprints"]["deadheatPair/v1"] for i in x}), x[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])')" \
    "4 deadheat warning note True True 4 queue.c"
# What the schema of SARIF 2.1.0 asks for, as far as we use it; also of a program without threads and of odd names.
for program in queue none odd many; do
    run --format=sarif --style=sound ./$program
    same "sarif-schema-$program" "$(json '
import re
def places(result):
    return result["locations"] + result.get("relatedLocations", [])
def values(x):
    yield x
    for y in x.values() if isinstance(x, dict) else x if isinstance(x, list) else []:
        yield from values(y)
assert set(d) == {"$schema", "version", "runs"} and d["version"] == "2.1.0"
assert len(d["runs"]) == 1 and None not in list(values(d))
run = d["runs"][0]
assert set(run) <= {"tool", "results", "columnKind", "originalUriBaseIds", "properties", "invocations"}
assert run.get("columnKind", "utf16CodeUnits") in ("utf16CodeUnits", "unicodeCodePoints")
rules = run["tool"]["driver"]["rules"]
assert run["tool"]["driver"]["name"] and len({r["id"] for r in rules}) == len(rules)
for r in run["results"]:
    assert set(r) <= {"ruleId", "ruleIndex", "level", "kind", "message", "locations", "relatedLocations", "codeFlows",
                      "partialFingerprints", "properties"}
    assert rules[r["ruleIndex"]]["id"] == r["ruleId"] and r["level"] in ("none", "note", "warning", "error")
    assert r["message"]["text"] and all(isinstance(v, str) for v in r["partialFingerprints"].values())
    for p in places(r):
        assert re.fullmatch(r"(%[0-9A-Fa-f]{2}|[\w.~!$&\x27()*+,;=:@/-])+", p["physicalLocation"]["artifactLocation"]["uri"], re.A)
        region = p["physicalLocation"].get("region", {"startLine": 1})
        assert region["startLine"] >= 1 and region.get("startColumn", 1) >= 1
    ids = [p["id"] for p in places(r) if "id" in p]
    assert len(set(ids)) == len(ids)
print("valid")')" valid
done
run --format=sarif ./odd
same sarif-uri "$(json 'print(d["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])')" \
    "a%20b%25%3C%FF%3E.c"

# HTML: one page that loads nothing, with everything escaped.
run --format=html --output=page.html ./queue
same html-exit "$status $(cat out)" "0 "
same html-pairs "$(grep -c 'id=P[0-9]' page.html)" 4
lacks html-loads-nothing page.html 'http'
run --format=html ./odd
lacks html-escaped out '<&'
has html-name out '&lt;&amp;&quot;'
run --format=html --style=sound ./many
has html-limit out 'and 45100 more (--limit=0 shows all)'

# Errors: one sentence each, status 2.
refused missing-file "cannot open 'nowhere': No such file or directory" nowhere
refused no-section "holds no table of pairs" ./empty
objcopy -R .deadheat.pairs queue stripped
refused stripped-section "do not strip its section .deadheat.pairs" ./stripped
strip -o strip-all queue
run ./strip-all
has strip-keeps-it out '4 pairs that may race'
head -c 300 queue.table >cut.table && objcopy --add-section .deadheat.pairs=cut.table empty cut
refused cut-section "cannot read the table of pairs in './cut': it is cut off" ./cut
sed 's/worker/WORKER/' queue.table >bent.table && objcopy --add-section .deadheat.pairs=bent.table empty bent
refused bent-section "its checksum is wrong" ./bent
{ head -c 8 queue.table && printf '\377' && tail -c +10 queue.table; } >newer.table
objcopy --add-section .deadheat.pairs=newer.table empty newer
refused newer-section "it was written by another version of deadheat" ./newer
head -c 1000 queue >half && refused half-a-program "half" half
cp queue.c queue.txt
refused not-a-program "'queue.txt' is neither a program nor LLVM bitcode, nor a source" queue.txt
refused two-programs "one at a time" ./queue ./none
refused object-file "is an object file" "$(clang-19 -c empty.c -o empty.o && echo empty.o)"
refused no-argument "which program?"
cp queue ./-queue
run --summary -- -queue
has file-like-an-option out '-queue: 4 pairs that may race'
refused bad-style "--style cannot be 'relays'; it must be relay or sound" --style=relays ./queue
refused bad-format "it must be text, json, jsonl, sarif, junit, github, gitlab, csv or html" --format=xml ./queue
refused bad-assume "it must be barriers, partition, published, owned, exit, callbacks, members or all" --assume=all,luck ./queue
refused bad-option "did you mean '--style'" --stile=relay ./queue
refused bad-output "cannot write '/nowhere/x'" --output=/nowhere/x ./queue
run --help
same help-exit "$status" 0
has help-example out 'deadheat cc --dh-mode=field'
# What each option assumes is told by --help and by the manual page.
for word in barriers partition published owned exit callbacks members; do
    run --help
    same "help-assume-$word" "$(grep -c "^  $word  *[a-z]" out)" 1
    same "man-assume-$word" "$(grep -c "^\.B $word\$" "$here/../../../man/deadheat-static.1")" 1
done
