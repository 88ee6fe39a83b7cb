#!/bin/sh
# run.sh DEADHEAT - `deadheat test`: many runs, one report, rates, statuses, and what an interrupt leaves.
. "$(dirname "$0")/../lib.sh"
root=$(cd "$here/../../.." && pwd)
schema=$root/docs/schema/findings.schema.json

cd "$work" || exit 1
mkdir tmp
export TMPDIR="$work/tmp"
cp "$here/../baseline/two.c" .
"$deadheat" cc -g -O1 -pthread -I"$root/tests/programs" two.c -o two || { bad compile "deadheat cc failed"; exit 1; }
# Of four runs the first has two races, the second one of these, the third fails and the fourth does nothing.
cat >suite <<'END'
#!/bin/sh
n=$(ls marks | wc -l)
: >"marks/$$"
echo "run $n"
case $((n % 4)) in 0) exec ./two a ;; 1) exec ./two ;; 2) exit "${FAIL:-0}" ;; esac
END
chmod +x suite

# dh ARGUMENTS...: sets status, fills out and err
dh() {
    rm -rf marks
    mkdir marks
    "$deadheat" "$@" >out 2>err
    status=$?
}
json() { # PYTHON: d is what was printed
    python3 -c "import json
d = json.load(open('out'))
$1"
}

dh test -n 8 -- ./suite
same runs "$status:$(ls marks | wc -l)" 66:8
has rates out 'seen in 4 of 8 runs (50 %; with 95 % confidence 22 % to 78 %)' 'seen in 2 of 8 runs (25 %; with 95 % confidence 7 % to 59 %)'
same once "$(grep -c '^WARNING: deadheat' out)" 2
lacks quiet-out out 'run 0'
lacks quiet-err err 'run '
dh test -n 4 --format=json -- ./suite
same json-schema "$(python3 "$here/../findings/validate.py" "$schema" out 2>&1 | tail -1)" valid
same json "$(json 'print(d["command"], d["summary"]["runs"], sorted((f["runs"]["seen"], f["runs"]["of"], round(f["runs"]["low"], 4), round(f["runs"]["high"], 4)) for f in d["findings"]))')" \
    'test 4 [(1, 4, 0.0456, 0.6994), (2, 4, 0.15, 0.85)]'
dh test -n 4 -j 3 --format=junit -o races.xml -- ./suite
same jobs "$status:$(ls marks | wc -l):$(wc -c <out):$(grep -c '<testcase' races.xml)" 66:4:0:2
dh test -n 2 -- ./two nothing more
has always out 'seen in 2 of 2 runs (100 %; with 95 % confidence 34 % to 100 %)'

# ---- Failures ----
export FAIL=3
dh test -n 8 -- ./suite
same races-win "$status" 66
has failure-told err 'deadheat test: run 3 ended with status 3; the end of what it printed:' '    run 2' 'deadheat test: 2 of 8 runs failed'
same failure-once "$(grep -c 'the end of what it printed' err)" 1
dh test -n 4 --baseline=known.json --update-baseline -- ./suite
same update "$status:$(grep -c '^{"fingerprint' known.json)" 0:2
dh test -n 4 --baseline=known.json -- ./suite
same known "$status:$(wc -c <out)" 3:0
has known-says err 'deadheat: no new data races in 4 runs' 'deadheat: 2 findings are in the baseline'
export FAIL=0
dh test -n 4 --baseline=known.json -- ./suite
same known-well "$status" 0
dh test -n 1 --baseline=known.json --suppressions=/nowhere -- ./suite
same suppressions "$status" 2
dh test -n 3 --force -- true
same force "$status" 2
dh test -n 2 -- true
same plain "$status" 2
has plain-says err 'nothing that ran was compiled by deadheat'
# shellcheck disable=SC2016 # for the inner shell
dh test -n 2 -- sh -c './two >/dev/null 2>&1; kill -9 $$'
has killed-says err 'run 1 was ended by signal 9'

# ---- Usage ----
for options in '-n 0' '-n x' '-n' '-j 1000' '--format=xml' '--report=0' '--exitcode=3' '--record-fd=3' '--no-such' '--detector'; do
    # shellcheck disable=SC2086 # several words
    dh test $options -- ./suite
    same "bad$(echo "$options" | tr -d ' ')" "$status:$(ls marks | wc -l):$(wc -l <err)" 2:0:1
done
dh test -n 3
same no-program "$status" 2
dh test -n 2 --detector=djit --max-reports=1 -- ./two a
same options "$status:$(grep -c '^WARNING: deadheat' out)" 66:1
dh test --help
has help out 'usage: deadheat test' '  junit: '

# ---- An interrupt: the second run waits for ever, and what the first has found is told ----
cat >slow <<'END'
#!/bin/sh
if mkdir first 2>/dev/null; then exec ./two; fi
echo $$ >waiting.new
mv waiting.new waiting
exec sleep 1000
END
chmod +x slow
for signal in INT TERM; do
    rm -rf first waiting
    "$deadheat" test -n 5 -- ./slow >out 2>err &
    pid=$!
    within 60 sh -c 'until [ -s waiting ]; do sleep 0.05; done'
    kill -s $signal $pid
    wait $pid
    status=$?
    same "interrupt-$signal-status" "$status" "$([ $signal = INT ] && echo 130 || echo 143)"
    has "interrupt-$signal" err 'deadheat test: interrupted after 1 of 5 runs'
    has "interrupt-$signal-report" out 'seen in 1 of 1 run (100 %'
    if kill -0 "$(cat waiting)" 2>/dev/null; then bad "interrupt-$signal-ended" 'the program still runs'; else ok "interrupt-$signal-ended"; fi
done

# ---- A time limit: a run that takes longer ends, and so does what it has started, whether it wants or not ----
cat >hang <<'END'
#!/bin/sh
sh -c 'trap "" TERM; echo $$ >stubborn.new; mv stubborn.new stubborn; while :; do sleep 1; done' &
until [ -s stubborn ]; do sleep 0.05; done
echo waiting
wait
END
chmod +x hang
dh test -n 1 --timeout=1s -- ./hang
same timeout-status "$status" 124
has timeout-says err 'deadheat test: run 1 took too long and was ended' 'deadheat test: 1 of 1 runs failed, 1 of them by taking too long'
if [ ! -s stubborn ] || within 10 sh -c 'while kill -0 "$(cat stubborn)" 2>/dev/null; do sleep 0.05; done'; then ok timeout-ended; else bad timeout-ended 'what the run has started still runs'; fi
dh test -n 2 --timeout=600 --baseline=known.json -- ./two a
same timeout-not-reached "$status" 0
for value in '' 0 x 1d -3s; do
    dh test -n 1 "--timeout=$value" -- ./two
    same "timeout-value-$value" "$status:$(cat err)" "2:deadheat test: error: --timeout cannot be '$value'; it must be a time such as 90s, 5m or 1h"
done
same nothing-left "$(ls tmp)" ''
exit $failed
