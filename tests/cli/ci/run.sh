#!/bin/sh
# run.sh DEADHEAT - the commands of the pipelines in examples/ci, in examples/project as it would be checked out: a race of
# the baseline passes, a new one fails and is the only one that is told; and what is uploaded is there in any case. The services
# themselves, and containers, are not here.
. "$(dirname "$0")/../lib.sh"

root=$(cd "$here/../../.." && pwd)
PATH=$(dirname "$deadheat"):$PATH
unset CC CXX CFLAGS CXXFLAGS
cd "$work" || exit 1
cp -r "$root/examples/project" clean
sed -e 's/^static int total, count;/&\nint jobs_last;/' -e 's/    count++;/&\n    jobs_last = amount;/' clean/jobs.c >raced.c

# The baseline, as the guide makes it.
cmake -S clean -B first -DCMAKE_C_COMPILER=deadheat-cc -DCMAKE_CXX_COMPILER=deadheat-c++ \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo >log 2>&1 && cmake --build first >>log 2>&1 ||
    bad baseline "$(tail -5 log)"
deadheat run --report=0 --output=first.jsonl -- ctest --test-dir first >log 2>&1
deadheat report --format=json first.jsonl >clean/races-known.json
same baseline "$?" 66
formats=$(deadheat report --help)

commands() { # FILE WHICH: what can be run with the formats that there are
    python3 "$here/commands.py" "$root/examples/ci/$1" "$2" | while read -r line; do
        format=$(expr "$line" : '.*--format=\([a-z]*\)')
        case $formats in *"$format"*) echo "$line" ;; *) echo "no $format" >>unknown ;; esac
    done
}
pipeline() { # FILE: in the current directory, as the service would
    python3 "$here/commands.py" "$root/examples/ci/$1" STEPS >steps
    commands "$1" AFTER >after
    [ -s steps ] && [ -s after ] || bad "$1-commands" "there are none"
    sh -e steps >out 2>&1
    status=$?
    sh -e after >out.after 2>&1 || bad "$1-after" "$(tail -3 out.after | tr '\n' '|')"
}
for ci in github.yml gitlab.yml Jenkinsfile; do
    cp -r clean known && cd known || exit 1
    pipeline $ci
    same $ci-known "$status" 0
    lacks $ci-known-silent out WARNING
    has $ci-known-counted out "1 finding is in the baseline"
    # The same checkout with a change that races: build systems build only what has changed.
    cp ../raced.c jobs.c
    rm -f races.*
    pipeline $ci
    [ "$status" -ne 0 ] && ok $ci-new || bad $ci-new "the pipeline passed"
    same $ci-new-only "$(grep -c '^WARNING' out)" 1
    has $ci-new-report out "data race on global \`jobs_last\`" "jobs.c:18"
    [ -s races.jsonl ] && ok $ci-records || bad $ci-records "there are none"
    if [ $ci = github.yml ]; then
        python3 - >got 2>&1 <<'EOF'
import json
results = json.load(open('races.sarif'))['runs'][0]['results']
prints = {json.dumps(r['partialFingerprints'], sort_keys=True) for r in results}
uris = {r['locations'][0]['physicalLocation']['artifactLocation']['uri'] for r in results}
print(len(results), len(prints), uris)
# What code scanning demands of a rule beyond the standard: its page of an alert is made of these.
rules = json.load(open('races.sarif'))['runs'][0]['tool']['driver']['rules']
print([r['id'] for r in rules if not all(r.get(k, {}).get('text') for k in ('shortDescription', 'fullDescription', 'help'))])
EOF
        same github-sarif "$(tr '\n' ' ' <got)" "2 2 {'jobs.c'} [] "
    else
        has $ci-page races.html jobs_last
    fi
    cd .. && rm -rf known
done
exit $failed
