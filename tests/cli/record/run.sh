#!/bin/sh
# run.sh DEADHEAT - `deadheat record` and what the recordings are good for: the races of a run are found in its recording, by
# every detector as many as it must; a killed program or recorder leaves a usable file.
#
# SEEDS="1 2 3" chooses the random programs, PROGRAMS="sor tsp" those of bench/programs.
. "$(dirname "$0")/../lib.sh"
tests=$here/../..
programs=$tests/../bench/programs

cd "$work" || exit 1
"$deadheat" cc -g -O1 -pthread "$here/racy.c" -o racy || { bad compile "deadheat cc failed"; exit 1; }

# ---- The command ----
"$deadheat" record -o a.dht -- ./racy >out 2>err
same exit-status "$?:$(cat out)" "7:1 2"
like says-what "err" '^deadheat record: [0-9]* events, .* in a.dht$'
"$deadheat" record --quiet ./racy >out 2>err
same default-name "$?:$(cat err):$(ls racy.dht)" "7::racy.dht"
"$deadheat" record >out 2>err
same no-program "$?" 2
"$deadheat" record --nonsense ./racy >out 2>err
same unknown-option "$?" 2
"$deadheat" record -o b.dht -- ./no-such >out 2>err
same no-such-program "$?" 127
"$deadheat" record -o no-such-directory/b.dht -- ./racy >out 2>err
same no-such-directory "$?" 2
"$deadheat" record -o b.dht -- sh >out 2>err
same not-instrumented "$?" 2

# ---- The recording ----
"$deadheat" analyze --detector=fasttrack,basicvc,djit,shb a.dht >out 2>err
same analyze-status "$?" 66
like finds-the-race out '^WARNING: .* on global `racy`'
if grep -q '^  [^ ]*\(guarded\|handed\|ready\|rounds\)\|on global `\(guarded\|handed\|ready\|rounds\)' out; then bad finds-no-other "$(cat out)"; else ok finds-no-other; fi
"$deadheat" trace info a.dht >out 2>err
has info out ', 2 threads, '
"$deadheat" trace cat a.dht >out 2>err
like cat out 'T1|acquire(0x'
"$deadheat" trace convert -o a.std a.dht 2>err && "$deadheat" trace convert -o b.dht a.std 2>err &&
    "$deadheat" trace convert -o b.std b.dht 2>err
same to-text-and-back "$(cmp a.std b.std && "$deadheat" analyze b.dht >out 2>err || echo $?)" 66

# ---- Damage ----
size=$(wc -c <a.dht)
head -c $((size - 60)) a.dht >cut.dht
"$deadheat" analyze cut.dht >out 2>err
same cut-short "$?:$(grep -c 'the recorder was killed' err)" "66:1"
{ head -c 100 a.dht && printf X && tail -c +102 a.dht; } >bent.dht
"$deadheat" analyze bent.dht >out 2>err
same changed-byte "$?:$(grep -c ': offset [0-9]*: the checksum' err)" "2:1"
head -c 20 a.dht >stub.dht
"$deadheat" analyze stub.dht >out 2>err
same only-a-stub "$?" 2

# ---- Killed ----
"$deadheat" record --quiet -o killed.dht -- ./racy 1000 0 2>err
same killed-program-status "$?" 137
"$deadheat" analyze killed.dht >out 2>err
same killed-program "$?:$(grep -c '^WARNING.*`racy`' out):$(cat err)" "66:1:"
("$deadheat" record --quiet --flush=1 -o late.dht -- ./racy 1000 1 late.dht.part; :) 2>err >out
"$deadheat" analyze late.dht.part >out 2>err
same killed-recorder "$?:$(grep -c '^WARNING.*`racy`' out):$(grep -c 'the recorder was killed' err)" "66:1:1"
# What a thread has done so far is not written once more after the end.
"$deadheat" record --quiet --flush=0 -o flushed.dht -- ./racy 2>err >out
"$deadheat" analyze flushed.dht >out 2>err
same flushed-at-the-end "$?:$(grep -c '^WARNING.*`racy`' out):$(cat err)" "66:1:"

# ---- Threads, processes, places ----
"$deadheat" cc -g -O1 -pthread "$here/lives.c" -o lives || bad compile-lives "deadheat cc failed"
found() { # NAME THREADS - what lives.dht must show: the one race, all threads
    "$deadheat" analyze lives.dht >out 2>err
    same "$1" "$?:$(grep -c '^WARNING.*`racy`' out):$(grep -c '^WARNING.*`guarded`' out):$("$deadheat" trace info lives.dht | sed -n 's/.* \([0-9]*\) threads.*/\1/p')" \
        "66:1:0:$2"
}
"$deadheat" record --quiet -o lives.dht -- ./lives 64 >out 2>err
same many-threads-status "$?:$(cat out):$(cat err)" "0:6400:"
found many-threads 65
"$deadheat" record --quiet -o lives.dht -- ./lives 3 fork >out 2>err
same fork-status "$?:$(cat out):$(cat err)" "0:300:"
found fork 4
"$deadheat" record --quiet -o lives.dht -- ./lives 3 exec >out 2>err # what takes its place is neither recorded nor checked
same exec-status "$?:$(cat out):$(cat err)" "0:300:"
"$deadheat" analyze lives.dht >out 2>err
same exec "$?" 0
if setarch -R true 2>/dev/null; then
    setarch -R "$deadheat" record --quiet -o lives.dht -- ./lives 3 >out 2>err
    same fixed-addresses-status "$?:$(cat out):$(cat err)" "0:300:"
    found fixed-addresses 4
else
    echo "skip cli/record/fixed-addresses: no leave to switch address randomisation off"
fi
"$deadheat" record --quiet -o /dev/full -- ./lives 3 >out 2>err
same no-space "$?:$(cat out):$(grep -c 'cannot write /dev/full: No space left' err)" "2:300:1"
"$deadheat" cc -O2 -pthread "$tests/../bench/kernels/heap.c" -o kernel || bad compile-heap "deadheat cc failed"
cat >full.sh <<'END'
mount -t tmpfs -o size=256k tmpfs small || exit 77
"$1" record --quiet -o small/full.dht -- ./kernel 2 1 >out 2>err
echo $? >status
"$1" analyze --detector=empty small/full.dht.part >full.out 2>full.err
END
mkdir small
if unshare -m sh full.sh "$deadheat" 2>/dev/null || unshare -rm sh full.sh "$deadheat" 2>/dev/null; then
    same full-disk "$(cat status):$(grep -c 'No space left' err):$(grep -c 'could not write' full.err)" "2:1:1"
    same full-disk-beginning "$(awk '{ print ($2 > 1000); exit }' full.out)" 1
else
    echo "skip cli/record/full-disk: no leave to mount a small one"
fi

# ---- Size: at most three bytes an event, on the kernels that are hardest to foretell ----
for name in heap striped_hash chase sweep_bytes; do
    "$deadheat" cc -O2 -pthread "$tests/../bench/kernels/$name.c" -o kernel || bad "size-$name" "does not compile"
    for _ in 1 2 3; do # how often threads take turns makes a difference: the least of three
        "$deadheat" record --quiet -o kernel.dht -- ./kernel 2 1 >out 2>err
        "$deadheat" trace info kernel.dht | sed -n 's/.* \([0-9.]*\) bytes an event.*/\1/p'
    done | sort -n | head -1 >out
    if awk '{ exit !($1 > 0 && $1 <= 3) }' out; then ok "size-$name"; else bad "size-$name" "$(cat out) bytes an event"; fi
done

# ---- Random programs: the same races online, in a recording, and in the laboratory ----
clang-19 -O1 "$here/generate.c" -o generate || bad generate "clang-19 failed"
for seed in ${SEEDS:-1 2 3 4 5 6 7 8}; do
    ./generate "$seed" >random.c
    "$deadheat" cc -w -g -O1 -pthread -I"$tests/programs" random.c -o random || bad "random-$seed" "does not compile"
    rm -f run.jsonl lab.jsonl
    base=$("$deadheat" run --report=0 --output=run.jsonl -- ./random)
    recorded=$("$deadheat" record --quiet -o random.dht -- ./random)
    lab=$("$deadheat" run --detector=fasttrack-ref --report=0 --output=lab.jsonl -- ./random)
    "$deadheat" analyze --format=json --list=events --all --detector=fasttrack,basicvc random.dht >random.json 2>err
    if why=$(python3 "$here/racy_words.py" "$base" run.jsonl "$recorded=random.json"); then
        same "random-$seed" "$(python3 "$here/racy_words.py" "$lab" lab.jsonl)" "$why"
    else
        bad "random-$seed" "$(echo "$why" | tr '\n' '|') $(cat err)"
    fi
done

# ---- The papers' programs: every detector finds what bench/programs/EXPECTED.tsv says; all of them are in tests/bench-detectors ----
detectors=fasttrack,basicvc,djit,goldilocks,eraser,multirace,acculock,multilock,simplelock,empty
for name in ${PROGRAMS:-account bufwriter elevator philo}; do
    "$deadheat" cc -g -O1 -pthread -I"$programs" "$programs/$name.c" -o program -lm || bad "$name" "does not compile"
    "$deadheat" record --quiet -o program.dht -- ./program 4 1 >out 2>err
    "$deadheat" analyze --format=json --limit=0 --detector=$detectors program.dht >program.json 2>err
    if why=$(python3 "$here/variables.py" "$name" "$programs/EXPECTED.tsv" program.json 2>&1); then
        ok "$name"
    else
        bad "$name" "$(echo "$why" | tr '\n' '|')$(cat err)"
    fi
done
exit $failed
