#!/bin/sh
# run.sh DEADHEAT - records of many processes: what they say of themselves, names of their files, several files at once, and
# --resolve, whose file tells the same without programs and sources.
. "$(dirname "$0")/../lib.sh"
root=$(cd "$here/../../.." && pwd)
schema=$root/docs/schema/findings.schema.json

cd "$work" || exit 1
mkdir build src
cp "$here/../baseline/two.c" build/
(cd build && "$deadheat" cc -g -O1 -pthread -I"$root/tests/programs" two.c -o two) || { bad compile "deadheat cc failed"; exit 1; }
unset DEADHEAT_TEST TEST_TARGET PYTEST_CURRENT_TEST GTEST_FILTER

# dh ARGUMENTS...: sets status, fills out and err
dh() {
    "$deadheat" "$@" >out 2>err
    status=$?
}
json() { # PYTHON: d is what was printed
    python3 -c "import json
d = json.load(open('out'))
$1"
}

# ---- Names of files: a file for each process ----
mkdir -p all/below
DEADHEAT_TEST=queue/push "$deadheat" run --report=0 --output='all/100%%-%e-%p.jsonl' -- build/two a 'x y' >out 2>err
GTEST_FILTER=Queue.Pop "$deadheat" run --report=0 --output='all/below/%t.jsonl' -- build/two a >out 2>err
"$deadheat" run --report=0 --output=all/below/z.jsonl -- build/two --gtest_filter=Queue.Both >out 2>err
echo nothing >all/readme.txt
like name-program-pid /dev/stdin '^100%-two-[0-9][0-9]*\.jsonl$' <<END
$(ls all)
END
like name-time /dev/stdin '^[1-9][0-9]\{9\}\.jsonl$' <<END
$(ls all/below)
END
same name-no-other "$(find all -type f | wc -l)" 4

# ---- What a process says of itself ----
dh report --format=json all
same many "$status:$(json 'print(len(d["processes"]), d["summary"]["findings"], sorted(p["test"] for p in d["processes"]))')" \
    "66:3 2 ['Queue.Both', 'Queue.Pop', 'queue/push']"
same about "$(json 'p = [p for p in d["processes"] if p["test"] == "queue/push"][0]
import re
print(p["args"][1:], p["cwd"] == "'"$work"'", bool(re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ", p["started"])),
      re.fullmatch("0x[0-9a-f]{1,16}", p["host"]) is not None, len({p["host"] for p in d["processes"]}))')" "['a', 'x y'] True True True 1"
same about-schema "$(python3 "$here/../findings/validate.py" "$schema" out 2>&1 | tail -1)" valid
lacks about-no-host-name out "\"$(uname -n)\""
same about-finding "$(json 'print(d["findings"][0]["test"])')" queue/push

# ---- Several files at once: the order of names, not of the directory ----
dh report all/below/*.jsonl all/100*.jsonl
same files "$status:$(tail -1 err)" "66:  build/two: all 3 processes raced"
mkdir empty
dh report empty
same directory-empty "$status:$(cat err)" "2:deadheat report: error: there is no file in empty whose name ends in .jsonl"
ln -s gone empty/lost.jsonl
dh report empty
same directory-dangling "$status:$(cat err)" "2:deadheat report: error: cannot open empty/lost.jsonl: No such file or directory"
if [ "$(id -u)" = 0 ]; then
    skip directory-closed "root may read every directory"
else
    mkdir -p closed/below && cp all/below/z.jsonl closed && chmod 0 closed/below
    dh report closed
    same directory-closed "$status:$(cat err)" "2:deadheat report: error: cannot read closed/below: Permission denied"
    chmod 700 closed/below
fi
dh report --resolve --format=html all
same resolve-or-format "$status:$(cat out err)" \
    "2:deadheat report: error: --resolve writes race records, and --format prints them: these are two commands"
dh report all/below/z.jsonl nowhere.jsonl
same file-missing "$status:$(cat out err)" "2:deadheat report: error: cannot open nowhere.jsonl: No such file or directory"
printf 'x\n' >bad.jsonl
dh report all/below/z.jsonl bad.jsonl
same file-bad "$status:$(grep -c '^deadheat: bad.jsonl:1: not JSON' err)" 2:1

# ---- --resolve: the same again, when nothing else is there ----
for form in text json sarif html junit csv; do
    "$deadheat" report --format=$form all >before.$form 2>before.$form.err
done
dh report --resolve -o bundle.jsonl all
same resolve "$status:$(wc -c <out)" 66:0
dh report -o bundle.jsonl --resolve bundle.jsonl
same resolve-input "$status:$(cat err)" "2:deadheat report: error: cannot write 'bundle.jsonl': this command reads it"
mkdir gone
mv build/two build/two.c gone/
for form in text json sarif html junit csv; do
    dh report --format=$form bundle.jsonl
    sed 's,bundle\.jsonl,all/100,g' out >told
    sed 's,all/100[^"<> ]*jsonl and 2 more,all/100,g' before.$form >wanted
    same "resolved-$form" "$status:$(cmp told wanted && echo same)" 66:same
    same "resolved-$form-says" "$(cat err)" "$(cat before.$form.err)"
done
has resolved-source before.text '>    19 |     memcpy(known, own, sizeof known);'
lacks resolved-unreadable err 'cannot'
# Once more resolved, it is the same file; suppressions and baselines work on it, and it is one.
dh report --resolve -o again.jsonl bundle.jsonl
same resolved-again "$(cmp bundle.jsonl again.jsonl && echo same)" same
echo 'race:^new_counter$' >known.supp
dh report --suppressions=known.supp bundle.jsonl
same resolved-suppressed "$status:$(tail -2 err | head -1)" '66:deadheat: 1 data race (2 variants, 2 repetitions), 1 suppressed'
dh report --baseline=bundle.jsonl bundle.jsonl
same resolved-baseline "$status" 0
# What somebody else wrote into it is looked at.
sed 's/"kind":1/"kind":99/g; s/"label":"[^"]*",*//g; s/"function":"reader",*//g' bundle.jsonl >odd.jsonl
dh report odd.jsonl
same resolved-odd "$status" 66
sed 's/"identity":/"identities":/' bundle.jsonl >odd.jsonl
dh report odd.jsonl
same resolved-none "$status:$(grep -c 'the finding is not complete' err)" 2:3

# ---- --path-map: sources have moved ----
mv gone/two build/
mv gone/two.c src/
dh report all/below/z.jsonl
lacks map-without out 'sizeof known'
dh report --path-map="$work/build=$work/src" all/below/z.jsonl
has map out 'src/two.c:19' 'memcpy(known, own, sizeof known);'
dh report --path-map="$work/nowhere=/x" --path-map="$work/build/=src" --format=json all/below/z.jsonl
same map-relative "$(json 'print(d["findings"][0]["accesses"][1]["stack"][0]["file"], d["findings"][0]["location"]["file"])')" 'src/two.c src/two.c'
fingerprint=$(json 'print(d["findings"][0]["fingerprint"])')
dh report --format=json all/below/z.jsonl
same map-identity "$(json 'print(d["findings"][0]["fingerprint"])')" "$fingerprint"
dh report --path-map="$work/build=lib" bundle.jsonl
has map-bundle out 'lib/two.c:19' 'memcpy(known, own, sizeof known);'
dh report --path-map="$work/buil=lib" all/below/z.jsonl
lacks map-whole-names out 'lib'
for value in x =y; do
    dh report --path-map=$value all
    same "map-bad-$value" "$status:$(cat err)" "2:deadheat report: error: --path-map cannot be '$value'; it must be FROM=TO, two directories"
done
exit $failed
