#!/bin/sh
# run.sh DEADHEAT - `deadheat run --detector=NAME`: detectors of the laboratory inside running programs. Each finds in the
# papers' small programs (bench/programs) what EXPECTED.tsv says; reports name the detector and have both stacks.
. "$(dirname "$0")/../lib.sh"
programs=$here/../../../bench/programs

cd "$work" || exit 1
for name in critical airline account pingpong philo mergesort; do
    "$deadheat" cc -g -O1 -pthread -I"$programs" "$programs/$name.c" -o $name -lm || bad $name "does not compile"
done

# ---- Choosing ----
"$deadheat" run --detector=nonsense -- ./critical >out 2>err
same no-such-detector "$?" 2
"$deadheat" run --detector=djt -- ./critical >out 2>err
like did-you-mean err "did you mean 'djit'"
"$deadheat" run --detector=syncp -- ./critical >out 2>err
same whole-trace-refused "$?:$(grep -c 'deadheat record' err)" "2:1"
DEADHEAT_OPTIONS=detector=nonsense ./critical 2 1 >out 2>err
same refused-by-the-runtime "$?:$(grep -c 'no such detector' err)" "2:1"
"$deadheat" run --detector=empty -- ./critical 2 1 >out 2>err
same empty-finds-nothing "$?:$(cat err)" "0:"
# Nothing is handed to it: no access gets past the inlined check, in any thread. To other detectors each one is.
"$deadheat" cc -O1 -pthread -I"$here/../../../src" "$here/hot.c" -o hot || bad hot "does not compile"
same empty-asks-for-no-access "$("$deadheat" run --detector=empty -- ./hot | tr '\n' ' ')" \
    "first: all thread: all thread: all last: all "
same others-ask-for-all "$("$deadheat" run --detector=djit -- ./hot | tr '\n' ' ')" \
    "first: none thread: none thread: none last: none "

# ---- Reports ----
"$deadheat" run --detector=djit --output=djit.jsonl -- ./critical 2 1 >out 2>err
same races-exit-status "$?" 66
like names-the-detector djit.jsonl '"detector":"djit","guarantee":"precise"'
like names-the-variable err 'data race on global .turn'
same both-stacks "$(grep -c '#0 .*critical.c:' err | sed 's/[2-9]/2/')" 2
"$deadheat" run --detector=eraser --report=0 --output=eraser.jsonl -- ./critical 2 1 >out 2>err
like unsound-guarantee eraser.jsonl '"detector":"eraser","guarantee":"unsound"'
"$deadheat" run --output=engine.jsonl --report=0 -- ./critical 2 1 >out 2>err
like engine-is-the-default engine.jsonl '"detector":"fasttrack","guarantee":"precise"'

# A recursive program has calling contexts without end: none of its races is lost for that.
"$deadheat" run --detector=eraser --report=0 --output=deep.jsonl -- ./mergesort 4 1 >out 2>err
like nothing-lost deep.jsonl '"LOST_REPORTS":0[,}]'

# ---- What each finds ----
# distinct RECORDS - how many variables, a global with all its members and elements being one.
distinct() {
    "$deadheat" report --format=json "$1" 2>err | python3 -c '
import json, re, sys
names = set()
for race in json.load(sys.stdin)["findings"]:
    names.add(re.search(r"`(\w+)|$", race["summary"]).group(1))
print(len(names))'
}
for detector in fasttrack-ref basicvc djit goldilocks eraser multirace acculock multilock simplelock; do
    for name in critical airline account pingpong philo mergesort; do
        rm -f races.jsonl
        "$deadheat" run --detector=$detector --report=0 --output=races.jsonl -- ./$name 4 1 >out 2>err
        want=$(awk -F '\t' -v p=$name -v d=${detector%-ref} '$1 == p && $2 == d { print $3 }' "$programs/EXPECTED.tsv")
        same "$detector-$name" "$(distinct races.jsonl)" "$want"
    done
done
exit $failed
