#!/bin/sh
# run.sh DEADHEAT - when `report`, `analyze` and `compare` may say that there are no races: something was recorded, and all of
# it. Otherwise one sentence, and status 2.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit 1
"$deadheat" cc -g -O1 -pthread "$here/../files/waits.c" -o waits || { bad compile "deadheat cc failed"; exit 1; }
report() { # ARGUMENTS: sets status, fills out and err
    "$deadheat" report "$@" >out 2>err
    status=$?
}
process() { echo "{\"v\":1,\"type\":\"process\",\"pid\":$1,\"exe\":\"/bin/prog$1\",\"detector\":\"fasttrack\"}"; }
end() { echo "{\"v\":1,\"type\":\"end\",\"pid\":$1,\"races\":0}"; }

# ---- Records ----
"$deadheat" run --report=0 --output=whole.jsonl -- ./waits >out </dev/null
report whole.jsonl
same whole "$status:$(cat err)" "0:deadheat: no data races"
report /dev/null
same nothing "$status:$(cat out):$(cat err)" \
    "2::deadheat: /dev/null: no process is recorded in it, so it does not tell whether there are races"
report - </dev/null
same nothing-standard-input "$status:$(wc -l <err)" 2:1
printf '\n\n' >blank.jsonl
report blank.jsonl
same blank-lines "$status" 2
seq 1000 >numbers
report numbers
same bad-lines "$status:$(grep -c 'no data races' err)" 2:0
same bad-lines-are-few "$(($(wc -l <err) <= 12)):$(grep -c 'numbers: 1000 lines in all are no race records' err)" 1:1

mkfifo say hear
"$deadheat" run --report=0 --output=killed.jsonl -- ./waits >say <hear &
exec 7<say 8>hear
read -r word pid <&7
report killed.jsonl
same running "$word:$status:$(grep -c "process $pid (.*waits) did not run to its end: killed, or still running" err)" ready:2:1
kill -KILL "$pid"
wait
exec 7<&- 8>&-
report killed.jsonl
same killed "$status:$(grep -c 'did not run to its end' err):$(grep -c 'no data races' err)" 2:1:0
same killed-says-one-sentence "$(wc -l <err)" 1
# Formats that stand alone say so, too.
report --format=html killed.jsonl
same killed-html "$status:$(grep -c '>Incomplete: a process did not run to its end.<' out):$(grep -c 'No data races\.' out)" 2:1:0
report --format=junit killed.jsonl
same killed-junit "$status:$(grep -o 'tests=.*skipped="0"' out):$(grep -c '<error type="incomplete" message="a process did not run to its end"/>' out)" \
    '2:tests="1" failures="0" errors="1" skipped="0":1'
report --format=sarif killed.jsonl
same killed-sarif "$status:$(python3 -c 'import json
i = json.load(open("out"))["runs"][0]["invocations"][0]
print(i["executionSuccessful"], i["toolExecutionNotifications"][0]["message"]["text"])')" '2:False a process did not run to its end'
report --format=github killed.jsonl
same killed-github "$status:$(cat out)" '2:::error title=deadheat::killed.jsonl: a process did not run to its end'
report --format=json killed.jsonl
same killed-json "$status:$(python3 -c 'import json
j = json.load(open("out"))
print(j["summary"]["complete"], [(p["pid"] > 0, p["exe"].endswith("/waits"), p["ended"]) for p in j["processes"]])')" \
    "2:False [(True, True, False)]"

{ process 1; process 2; end 1; process 3; end 2; end 3; } >three.jsonl
report three.jsonl
same three-ended "$status" 0
report --format=json three.jsonl
same three-json "$status:$(python3 -c 'import json
j = json.load(open("out"))
print(j["summary"]["complete"], [(p["pid"], p["exe"], p["ended"]) for p in j["processes"]])')" \
    "0:True [(1, '/bin/prog1', True), (2, '/bin/prog2', True), (3, '/bin/prog3', True)]"
{ process 1; process 2; end 2; process 3; process 4; end 4; } >some.jsonl
report some.jsonl
same some-open "$status:$(cat err)" "2:deadheat: some.jsonl: process 1 (/bin/prog1) and 1 more did not run to its end: killed, \
or still running; what it did after its last record is not known"
# The number of a process is used again: the one that began last has ended.
{ process 1; process 1; end 1; } >again.jsonl
report again.jsonl
same number-used-again "$status" 2
end 1 >only.jsonl
report only.jsonl
same end-of-nothing "$status" 2

# ---- Traces ----
for command in analyze 'compare --detectors=fasttrack'; do
    name=${command%% *}
    # shellcheck disable=SC2086
    "$deadheat" $command /dev/null >out 2>err
    same "$name-nothing" "$?:$(grep -c '/dev/null: there is no event in it' err)" 2:1
done
"$deadheat" analyze --format=json - </dev/null >out 2>err
same analyze-standard-input "$?" 2
same analyze-nothing-json "$(python3 -c 'import json; print(json.load(open("out"))["summary"]["complete"])')" False
"$deadheat" analyze /dev/null >out 2>err
same analyze-nothing-words "$(grep -c 'no races' out):$(tail -1 out)" '0:fasttrack (precise): nothing to analyse'
"$deadheat" analyze --format=html /dev/null >out 2>err
same analyze-nothing-html "$(grep -c '>Incomplete: there is no event.<' out):$(grep -c 'No data races\.' out)" 1:0
"$deadheat" trace convert -o empty.dht - </dev/null && "$deadheat" analyze empty.dht >out 2>err
same analyze-converted "$?" 2
"$deadheat" record --quiet -o whole.dht -- ./waits >out </dev/null
head -c $(($(wc -c <whole.dht) - 60)) whole.dht >cut.dht
for command in analyze 'compare --detectors=fasttrack'; do
    name=${command%% *}
    # shellcheck disable=SC2086
    "$deadheat" $command whole.dht >out 2>err
    same "$name-whole" "$?:$(cat err)" 0:
    # shellcheck disable=SC2086
    "$deadheat" $command cut.dht >out 2>err
    same "$name-cut" "$?:$(grep -c 'the recorder was killed or could not write' err)" 2:1
done
"$deadheat" analyze cut.dht >out 2>err
same analyze-cut-words "$(tail -1 out)" 'fasttrack (precise): no races in what is there'
"$deadheat" analyze --format=junit cut.dht >out 2>err
same analyze-cut-junit "$(grep -o 'errors="."' out)" 'errors="1"'
for trace in whole cut; do
    "$deadheat" analyze --format=json $trace.dht >$trace.json 2>err
done
same analyze-complete "$(python3 -c 'import json; print(*(json.load(open(f))["summary"]["complete"] for f in ("whole.json", "cut.json")))')" \
    'True False'

exit $failed
