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

exit $failed
