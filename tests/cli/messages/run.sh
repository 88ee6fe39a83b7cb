#!/bin/sh
# run.sh DEADHEAT - what people get wrong, and the one sentence that helps: files of another kind, names that lead nowhere,
# options that do not exist, programs without debug information.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit 1
"$deadheat" cc -O1 -pthread "$here/two.c" -o bare && "$deadheat" cc -g -O1 -pthread "$here/two.c" -o hits || {
    bad compile "deadheat cc failed"
    exit 1
}
printf 'T1|w(x)|1\n' >t.std
"$deadheat" trace convert -o t.dht t.std
"$deadheat" run --report=0 --output=r.jsonl -- ./hits >out
try() { # ARGUMENTS: sets status, fills out and err
    within 20 "$deadheat" "$@" >out 2>err </dev/null
    status=$?
}

# ---- Files of another kind ----
kind() { # NAME WORDS ARGUMENTS
    name=$1 words=$2
    shift 2
    try "$@"
    same "$name" "$status:$(wc -l <err):$(grep -c -- "$words" err)" 2:1:1
}
kind report-program "'./hits' is a program, .*deadheat run --output" report ./hits
kind report-recording "'t.dht' is a recording, .*deadheat analyze" report t.dht
kind report-trace "'t.std' is a trace, .*deadheat analyze" report t.std
for format in json sarif; do
    "$deadheat" report --format=$format r.jsonl >document.$format 2>err
    kind report-$format "'document.$format' is a document of findings, .*--baseline" report document.$format
done
for command in analyze 'trace info' 'trace cat' 'compare --detectors=empty'; do
    # shellcheck disable=SC2086
    kind "${command%% *}-records" "r.jsonl holds race records, .*deadheat report" $command r.jsonl
    # shellcheck disable=SC2086
    kind "${command%% *}-program" "./hits is a program, .*deadheat record" $command ./hits
done
try report "$here/two.c"
same report-text "$status:$(($(wc -l <err) <= 12))" 2:1

# ---- Files that cannot be used: noticed before the program runs, with name and reason ----
unusable() { # NAME WORDS FLAG: by the command, and by the program alone, which goes on
    try run "--$3" -- ./hits none
    same "$1" "$status:$(cat out):$(grep -c -- "$2" err)" 2::1
    DEADHEAT_OPTIONS=$3 within 20 ./hits none >out 2>err
    same "$1-alone" "$?:$(cat out):$(grep -c -- "$4" err)" 0:ran:1
}
unusable no-output-directory "cannot write '/nonexistent/x': No such file or directory" output=/nonexistent/x \
    'the output file "/nonexistent/x" cannot be opened: no such file or directory'
mkdir dir
unusable output-directory "cannot write 'dir': Is a directory" output=dir 'the output file "dir" cannot be opened: it is a directory'
unusable no-suppressions "cannot read the suppressions 'absent': No such file or directory" suppressions=absent \
    'the suppressions "absent" cannot be read: no such file or directory'
DEADHEAT_OPTIONS=suppressions=absent try run -- ./hits none
same suppressions-of-environment "$status:$(cat out)" 2:
mkfifo fifo
try run --output=fifo -- ./hits none
same unread-pipe "$status:$(cat out):$(grep -c 'it is a pipe without a reader' err)" 2:ran:1
cat fifo >records &
reader=$!
until DEADHEAT_OPTIONS=output=fifo ./hits none >out 2>err && [ ! -s err ]; do :; done # when it has come
wait $reader
same read-pipe "$(sed -n 's/.*"type":"\([a-z]*\)".*/\1/p' records | tr '\n' ' ')" "process counters end "
cp hits kept
for output in hits ./hits "$work/hits"; do
    try run --output="$output" -- ./hits
    same "output-is-program-${output%hits}" "$status:$(cmp hits kept):$(grep -c 'this command reads it' err)" 2::1
done
echo race:nothing >known
try run --suppressions=known --output=known -- ./hits
same output-is-suppressions "$status:$(cat known)" 2:race:nothing

# ---- Programs ----
for command in run record compare\ --; do
    # shellcheck disable=SC2086
    try $command hits
    same "${command%% *}-without-path" "$status:$(grep -c "no program 'hits' on the path; did you mean './hits'?" err)" 127:1
done
try run no-such-program
same no-such-program "$status:$(grep -c 'did you mean' err)" 127:0
mkdir directory
try run directory
same directory-without-path "$status:$(grep -c 'did you mean' err)" 127:0

# ---- Debug information ----
try run ./bare
same without-g "$status:$(grep -c '^WARNING' err):$(grep -c 'no debug information for code in .*bare: compile it with -g' err)" 66:2:1
"$deadheat" run --report=0 --output=bare.jsonl -- ./bare >out
try report bare.jsonl
same without-g-later "$status:$(grep -c 'no debug information' err)" 66:1
try run ./hits
same with-g "$status:$(grep -c 'debug information' err)" 66:0

# ---- Options: status 2, and a sentence ----
wrong() { # ARGUMENTS
    try "$@"
    name=$(printf '%s' "$*" | tr -c 'a-z0-9=\n+' -)
    same "wrong$name" "$status:$(cat out):$(($(wc -l <err) == 1))" 2::1
}
wrong cc
wrong c++
wrong cc --dh-nonsense t.c
wrong cc --dh-mode=nonsense t.c
wrong cc --dh-frontend=nonsense t.c
wrong run --nonsense ./hits
wrong run --exitcode=nonsense ./hits
wrong run
wrong record --nonsense ./hits
wrong record --flush=nonsense ./hits
wrong record
wrong report --nonsense r.jsonl
wrong report
wrong analyze --nonsense t.std
wrong analyze --limit=-1 t.std
wrong analyze
wrong compare --nonsense t.std
wrong compare
wrong static --nonsense ./hits
wrong static
wrong detectors --nonsense
wrong trace
wrong trace nonsense
wrong trace info --nonsense t.std
wrong trace cat --range=nonsense t.std
wrong trace convert t.std
wrong nonsense
wrong help nonsense
DEADHEAT_OPTIONS=nonsense=1 ./hits none >out 2>err
same wrong-in-environment "$?:$(cat out):$(wc -l <err)" 2::1

exit $failed
