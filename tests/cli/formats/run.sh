#!/bin/sh
# run.sh DEADHEAT - the forms of findings that programs of others read: each is read as they do, for every command that has it.
. "$(dirname "$0")/../lib.sh"
root=$(cd "$here/../../.." && pwd)
schema=$root/docs/schema/findings.schema.json

cd "$work" || exit 1
cp "$here/../baseline/two.c" .
"$deadheat" cc -g -O1 -pthread -I"$root/tests/programs" two.c -o two || { bad compile "deadheat cc failed"; exit 1; }
"$deadheat" run --report=0 --output=two.jsonl -- ./two a >out 2>err
"$deadheat" record --quiet -o two.dht -- ./two a >out 2>err
"$deadheat" report --format=jsonl two.jsonl >out 2>err
# The baseline has the first of the two.
python3 -c 'import json; print(json.loads(open("out").readline())["fingerprint"])' >known.txt

# dh ARGUMENTS...: sets status, fills out and err
dh() {
    "$deadheat" "$@" >out 2>err
    status=$?
}
check() { # NAME FORM WANTED: what is in out
    same "$1" "$status:$(python3 "$here/check.py" "$2" out 2>&1 | tail -1)" "$3"
}

# ---- report: without a baseline, and with one that has the first of two ----
dh report --format=junit two.jsonl
check junit junit "66:('deadheat report', 2, 2, 0, ['two.c'])"
dh report --format=junit --baseline=known.txt two.jsonl
check junit-known junit "66:('deadheat report', 2, 1, 1, ['two.c'])"
dh report --format=github two.jsonl
check github github "66:[('error', 'two.c', '29', 'data race on global \`known[0]\`'), ('error', 'two.c', '31', 'data race on global \`new_counter\`')]"
dh report --format=github --baseline=known.txt two.jsonl
check github-known github "66:[('error', 'two.c', '31', 'data race on global \`new_counter\`')]"
dh report --format=gitlab two.jsonl
check gitlab gitlab "66:[('critical', 'two.c', 29), ('critical', 'two.c', 31)]"
dh report --format=gitlab --baseline=known.txt two.jsonl
check gitlab-known gitlab "66:[('critical', 'two.c', 31)]"
dh report --format=csv --baseline=known.txt two.jsonl
check csv csv "66:[('data race', 'error', 'known', 'global \`known[0]\`', 'two.c', '29', '19'), ('data race', 'error', 'new', 'global \`new_counter\`', 'two.c', '31', '21')]"
dh report --format=jsonl --baseline=known.txt two.jsonl
check jsonl jsonl "66:[('observed', 'known', 'known'), ('observed', 'new', 'new_counter')]"

# ---- Nothing found ----
printf 'race:*\n' >all.supp
for form in junit github gitlab csv jsonl; do
    dh report --format=$form --suppressions=all.supp two.jsonl
    case $form in
    junit) check empty-$form $form "0:('deadheat report', 1, 0, 0, ['two.jsonl'])" ;;
    *) check empty-$form $form '0:[]' ;;
    esac
done

# ---- Every command, every form: the same findings as its JSON ----
count() { # FORM: findings in out
    case $1 in
    text) grep -c '^WARNING: deadheat: \|^  P[0-9]\|^  x: ' out ;;
    json) python3 -c 'import json; print(len(json.load(open("out"))["findings"]))' ;;
    jsonl) wc -l <out ;;
    sarif) python3 -c 'import json; print(len(json.load(open("out"))["runs"][0]["results"]))' ;;
    junit) grep -c '<failure' out ;;
    github) grep -c '^::' out ;;
    gitlab) python3 -c 'import json; print(len(json.load(open("out"))))' ;;
    csv) python3 -c 'import csv; print(len(list(csv.reader(open("out", newline="")))) - 1)' ;;
    html) grep -c 'class=p id=' out ;;
    esac
}
printf 'a|fork(b)|1\na|w(x)|2\nb|w(x)|3\n' >x.std
for form in json text jsonl sarif junit github gitlab csv html; do
    for command in report analyze trace static; do
        case $command in
        report) dh report --format=$form two.jsonl ;;
        analyze) dh analyze --detector=fasttrack --format=$form two.dht ;;
        trace) dh analyze --format=$form x.std ;;
        static) dh static --format=$form -I"$root/tests/programs" -pthread two.c ;;
        esac
        cp out "$command.$form"
        [ $form = json ] && eval "n_$command=$(count json)"
        eval "wanted=\$n_$command"
        same "all-$command-$form" "$(count $form)" "$wanted"
    done
done
same all-some "$((n_report * n_analyze * n_trace)):$((n_static > 1))" 4:1

# ---- run: a document beside the text, or in place of it ----
dh run --format=json:found.json -- ./two a
same run-file "$status:$(grep -c '^WARNING: deadheat' err):$(wc -c <out)" 66:2:0
cp found.json out
same run-schema "$(python3 "$here/../findings/validate.py" "$schema" found.json 2>&1 | tail -1)" valid
same run-json "$(count json):$(python3 -c 'import json; d = json.load(open("out")); print(d["command"], d["summary"]["complete"])')" '2:run True'
dh run --format=sarif:run.sarif -- ./two a
cp run.sarif out
same run-sarif "$(count sarif)" 2
dh run --format=github -- ./two a
cp err out
check run-github github "66:[('error', 'two.c', '29', 'data race on global \`known[0]\`'), ('error', 'two.c', '31', 'data race on global \`new_counter\`')]"
dh run --baseline=known.txt --format=junit:run.xml -- ./two
cp run.xml out
check run-junit junit "0:('deadheat run', 1, 0, 1, ['two.c'])"
dh run --format=sarif:several.sarif --format=csv:several.csv --format=github -- ./two a
cp several.sarif out
same run-several "$status:$(count sarif):$(wc -l <several.csv):$(grep -c '^::error' err)" 66:2:3:2
for more in csv:x github; do
    dh run --format=csv:x --format=github --format=$more -- sh -c 'touch started'
    same "run-same-$more" "$status:$(cut -d' ' -f1-11 err)" "2:deadheat run: error: two documents of --format cannot both go to"
done
dh run --format=sarif:/nowhere/x -- sh -c 'touch started'
same run-unwritable "$status:$(cat err)" "2:deadheat run: error: cannot write '/nowhere/x': No such file or directory"
dh run --format=sarif: -- sh -c 'touch started'
same run-no-name "$status" 2
dh run --format=xml -- sh -c 'touch started'
same run-unknown "$status:$(cat err)" \
    "2:deadheat run: error: --format cannot be 'xml'; it must be text, json, jsonl, sarif, junit, github, gitlab, csv or html"
dh run --format=json:known.txt --baseline=known.txt -- sh -c 'touch started'
same run-input "$status:$(cat err)" "2:deadheat run: error: cannot write 'known.txt': this command reads it"
if [ -e started ]; then bad run-not-started "the program was run"; else ok run-not-started; fi

# ---- Names that would be markup, commands, formulas ----
printf 'm|fork(a)|1\nm|fork(b)|1\n' >odd.std
for name in '=1+1,"x"' '-2+3]]><&' '%%0A::error::x' '\303x\357\277\276'; do
    # shellcheck disable=SC2059 # it is a format
    printf "a|w($name)|2\nb|w($name)|3\n" >>odd.std
done
for form in junit csv gitlab github; do
    dh analyze --format=$form odd.std
    python3 "$here/check.py" $form out >checked 2>&1
    same "odd-$form" "$?:$(python3 -c 'print(len(eval(open("checked").read())))')" "0:$([ $form = junit ] && echo 5 || echo 4)"
done
dh analyze --format=github odd.std
same odd-github-lines "$(grep -vc '^::error file=odd.std,title=' out)" 0

# ---- SARIF, by the schema of its authors ----
if command -v node >/dev/null && [ -d "$root/node_modules/@microsoft/sarif-multitool-ts" ]; then
    dh report --format=sarif --baseline=known.txt two.jsonl
    cp out new.sarif
    echo dh2-000000000000 >>known.txt
    dh report --format=sarif --baseline=known.txt two.jsonl
    cp out baseline.sarif
    dh analyze --detector=all,syncp --witness --format=sarif "$root/examples/guide/predicted.std"
    cp out predicted.sarif
    dh analyze --format=sarif odd.std
    cp out odd.sarif
    dh report --format=sarif --suppressions=all.supp two.jsonl
    cp out none.sarif
    for f in report.sarif analyze.sarif trace.sarif static.sarif run.sarif new.sarif baseline.sarif predicted.sarif odd.sarif none.sarif; do
        same "sarif-valid-$f" "$(node "$here/sarif.mjs" $f 2>&1 | tail -1)" valid
    done
    same sarif-states "$(grep -o '"baselineState":"[a-z]*"' baseline.sarif | sort | tr '\n' ' ')" \
        '"baselineState":"absent" "baselineState":"new" "baselineState":"unchanged" '
    # The check bites.
    sed 's/"ruleId"/"rule_id"/' report.sarif >bad.sarif
    case $(node "$here/sarif.mjs" bad.sarif 2>&1) in valid) bad sarif-bites 'accepted' ;; *) ok sarif-bites ;; esac
else
    skip sarif-valid "there is no node, or no schema of SARIF (scripts/install-deps)"
fi
has sarif-tool report.sarif '"version":"0.1.0"' '"informationUri":"man:deadheat(1)"' '"primaryLocationLineHash":"dh2-'

for command in run report analyze static; do
    dh $command --help
    has "help-$command" out --format=FORMAT '  sarif: ' '  gitlab: '
done
exit $failed
