#!/bin/sh
# run.sh DEADHEAT OBJ - `deadheat chase` on programs that know what must come of it: races that are certain to meet, pairs that
# cannot, programs that look for traces of being chased, and breakpoints set faster than anybody would.
. "$(dirname "$0")/lib.sh"

# ---- What is confirmed, and what is not ----
first=$(line meet FIRST) second=$(line meet SECOND)
sure="--rmax=100% --delay=900ms"
for how in 'gcc:-O0' 'gcc:-O2' 'gcc:-O2 -no-pie' 'clang-19:-O0' 'clang-19:-O2' 'clang-19:-O2 -no-pie'; do
    name=$(echo "$how" | tr -d ': ' | sed 's/-/_/g')
    build "${how%%:*}" "${how#*:}" meet
    # shellcheck disable=SC2086
    chase $sure --pair "meet.c:$first:write:meet.c:$second:read" -- ./meet global
    same "confirmed-status-$name" "$status:$(cat out)" 66:OK
    has "confirmed-$name" err "data race on global \`global.b\`" "Threads T" "were caught at these two accesses" \
        "Read of 4 bytes" "#0 second" "meet.c:$second:" "Earlier write of 4 bytes" "#0 first" "meet.c:$first:" "1 data race"
    lacks "confirmed-no-locks-$name" err "holding"
done
for where in heap stack; do
    # shellcheck disable=SC2086
    chase $sure --pair "meet.c:$first:write:meet.c:$second:read" -- ./meet $where
    same "confirmed-$where" "$status" 66
    has "confirmed-$where-report" err "data race on memory at 0x" "#0 second" "#0 first"
done
short="--rmax=100% --delay=50ms --stats"
for where in apart locked; do
    # shellcheck disable=SC2086
    chase $short --pair "meet.c:$first:write:meet.c:$second:read" -- ./meet $where
    same "not-$where" "$status:$(cat out)" 3:OK
    has "not-$where-words" err "not seen: threads waited 1 time at the first access" "in 1 samples"
    lacks "not-$where-race" err "data race"
done
for _ in $(seq 20); do # the other thread may get no processor while the first waits
    # shellcheck disable=SC2086
    chase $short --pair "meet.c:$(line meet ATOMIC-FIRST):meet.c:$(line meet ATOMIC-SECOND)" -- ./meet atomic
    grep -q " 0 harmless meetings" err || break
done
same not-atomic "$status:$(cat out)" 3:OK
lacks not-atomic-race err "data race"
lacks not-atomic-met err " 0 harmless meetings"
chase --rmax=0% --stats --pair "meet.c:$first:write:meet.c:$second:read" -- ./meet global
same rmax-0 "$status" 3
has rmax-0-words err "no thread was caught at the first access" "in 0 samples; 0 traps"
setarch -R "$deadheat" chase --rmax=100% --delay=900ms --pair "meet.c:$first:write:meet.c:$second:read" -- ./meet >out 2>err
same without-aslr "$?" 66

# ---- A program that ends in the middle of a wait ----
build gcc -O2 leaves
# shellcheck disable=SC2086
chase $sure --stats --pair "$(self leaves)" -- ./leaves
same leaves "$status:$(cat out)" 0:OK
has leaves-counted err "threads waited 1 time at the first access" "in 1 samples"

# ---- Whoever conflicts with one access ----
# shellcheck disable=SC2086
chase $sure --output=any.jsonl --any="meet.c:$first:write" -- ./meet global
if grep -q 'refuses hardware watchpoints' err; then
    skip any "no hardware watchpoints here"
else
    same any "$status:$(cat out)" 66:OK
    has any-record any.jsonl '"order":"reversed"'
    has any-words err "data race on global \`global.b\`" "Read of 4 bytes" "#0 second" "Earlier write of 4 bytes" "#0 first"
    # shellcheck disable=SC2086
    chase $sure --any="meet.c:$first:write" -- ./meet memset
    same any-library "$status:$(cat out)" 66:OK
    has any-library-words err "Write of" "set_often" "Earlier write of 4 bytes" "#0 first"
    # shellcheck disable=SC2086
    await "race of unknown origin" $short --any="meet.c:$first:write" -- ./meet kernel
    same any-kernel "$status:$(cat out)" 3:OK
    has any-kernel-words err "no thread was seen writing: a race of unknown origin"
    # shellcheck disable=SC2086
    chase $short --any="meet.c:$first:write" -- ./meet apart
    same any-apart "$status:$(cat out)" 3:OK
    has any-apart-words err "no other thread was seen accessing the same bytes"
    lacks any-apart-race err "race on"
    # shellcheck disable=SC2086
    chase $short --any="meet.c:$(line meet ATOMIC-FIRST)" -- ./meet atomic
    same any-atomic "$status:$(cat out)" 3:OK
    lacks any-atomic-race err "race on"
fi

# ---- Atomic accesses ----
for how in 'gcc:-O2' 'clang-19:-O2'; do
    build "${how%%:*}" "${how#*:}" atomic
    rm -f builtin.jsonl
    for what in global member through; do
        mark=$(echo $what | tr a-z A-Z)
        store=atomic.c:$(line atomic $mark-STORE):write load=atomic.c:$(line atomic $mark-LOAD):read
        for pair in "$store:$load" "$load:$store"; do
            # shellcheck disable=SC2086
            chase $short --pair "$pair" -- ./atomic $what
            same "atomic-$what-${how%%:*}-${pair##*:}" "$status:$(cat out)" 3:OK
            lacks "atomic-$what-${how%%:*}-${pair##*:}-race" err "data race"
        done
    done
    # shellcheck disable=SC2086
    chase $sure --output=builtin.jsonl --pair "atomic.c:$(line atomic BUILTIN-STORE):write:atomic.c:$(line atomic BUILTIN-LOAD):read" \
        -- ./atomic builtin
    same "atomic-builtin-${how%%:*}" "$status" 66
    has "atomic-builtin-${how%%:*}-words" err "if both are atomic in the source, this is no race"
    has "atomic-builtin-${how%%:*}-record" builtin.jsonl '"atomics":"unknown"'
done
"$deadheat" report --format=json builtin.jsonl >out 2>err
has atomic-json out '"atomics":"unknown"'

# ---- The budget, whose arithmetic is tested in tests/unit/test_chase_budget.c: how late threads are woken is not ours ----
build gcc -O1 hammer
for rmax in 1 5; do
    chase --stats --rmax=$rmax% --pair "hammer.c:$(line hammer A):*:hammer.c:$(line hammer A):*" -- ./hammer 2 2000
    same "budget-$rmax-output" "$(cat out)" OK
    like "budget-$rmax-stats" err "waited [0-9.]* ms of [0-9.]* ms"
done

# ---- The order in which they go on, and what comes of it ----
build gcc -O1 stop
build gcc -O1 hang
steer="--rmax=100% --trials=8"
pair="stop.c:$(line stop READ):read:stop.c:$(line stop WRITE):write"
./stop >out
same steer-plain "$?:$(cat out)" 0:OK
# shellcheck disable=SC2086
persist $steer --steer=alternate --output=alternate.jsonl --pair "$pair" -- ./stop
same steer-alternate "$status" 66
has steer-alternate-record alternate.jsonl '"order":"reversed"' '"consequence":"crash"' '"detail":"Segmentation fault"'
same steer-alternate-always "$(grep '"order":"reversed"' alternate.jsonl | grep -vc '"consequence":"crash"')" 0
cp err stop.err
has steer-alternate-words err "in this order the program was killed by SIGSEGV" "data race on global \`pointer\`"
# A program that ends in its handler of the fault has crashed; one that has recovered has not, even if it fails later.
build gcc -O1 handled
pair="handled.c:$(line handled READ):read:handled.c:$(line handled WRITE):write"
for how in 'exits:crash:Segmentation fault' 'set:crash:Segmentation fault' 'illegal:crash:Illegal instruction' 'aborts:crash:Aborted' \
    'jumps:failure' 'returns:failure' 'sent:failure'; do
    mode=${how%%:*} what=${how#*:}
    # shellcheck disable=SC2086
    persist $steer --steer=alternate --output="handled-$mode.jsonl" --pair "$pair" -- ./handled "$mode"
    same "steer-handled-$mode" "$status:$(grep -v '^OK$' out)" 66:
    has "steer-handled-$mode-record" "handled-$mode.jsonl" '"order":"reversed"' "\"consequence\":\"${what%%:*}\""
    same "steer-handled-$mode-always" "$(grep '"order":"reversed"' "handled-$mode.jsonl" | grep -vc "\"consequence\":\"${what%%:*}\"")" 0
    [ "$what" = failure ] || has "steer-handled-$mode-detail" "handled-$mode.jsonl" "\"detail\":\"${what#*:}\""
done
# In a field build, fortified.
"$deadheat" cc --dh-mode=field -g -O1 -D_GNU_SOURCE -D_FORTIFY_SOURCE=2 -pthread "$programs/handled.c" -o handled-field
for how in exits:crash jumps:failure; do
    # shellcheck disable=SC2086
    persist $steer --steer=alternate --output="field-${how%%:*}.jsonl" --pair "$pair" -- ./handled-field "${how%%:*}"
    same "steer-handled-field-${how%%:*}" "$status" 66
    has "steer-handled-field-${how%%:*}-record" "field-${how%%:*}.jsonl" "\"consequence\":\"${how#*:}\""
done
has steer-handled-words err "data race on global \`pointer\`"
./hang >out
same steer-hang-plain "$?:$(cat out)" 0:OK
pair="hang.c:$(line hang READ):hang.c:$(line hang WRITE)"
# shellcheck disable=SC2086
persist $steer --hang=1s --steer=primary --output=hang.jsonl --pair "$pair" -- ./hang
same steer-hang "$status" 66
has steer-hang-record hang.jsonl '"order":"shown"' '"consequence":"hang"' '"detail":"no progress for 1 s"'
has steer-hang-words err "in this order the program hangs: the two threads have made no progress for 1 s; it is killed" "Consequence: hang"
# Nobody is held at the first access when the second comes, so nobody can be made to wait for it: the time is over.
# shellcheck disable=SC2086
persist $steer --trials=6 --steer=primary --output=timeout.jsonl --pair "stop.c:$(line stop WRITE):write:stop.c:$(line stop READ):read" -- ./stop
has steer-both-orders timeout.jsonl '"order":"shown"' '"consequence":"crash"'
# shellcheck disable=SC2086
chase $steer --trials=6 --steer=alternate --pair "meet.c:$first:write:meet.c:$second:read" -- ./meet apart
same steer-timeout "$status:$(sort -u out)" 3:OK
has steer-timeout-words err "timeout: a thread was held 6 times, up to 200 ms, and no other thread reached the other access"

# ---- A report is written in one piece: the program may print meanwhile ----
# shellcheck disable=SC2086
same one-piece "$(python3 "$fields/pieces.py" "$deadheat" chase $sure --pair "meet.c:$first:write:meet.c:$second:read" -- ./meet global)" 1

# ---- Records, suppressions, statuses ----
# shellcheck disable=SC2086
chase $sure --output=races.jsonl --trials=2 --pair "meet.c:$first:write:meet.c:$second:read" -- ./meet global
same trials "$status" 66
has trials-words err "confirmed in 2 of 2 runs" "1 data race"
has record races.jsonl '"provenance":"confirmed"' '"order":"shown"' '"detector":"racechaser"' '"type":"end"'
"$deadheat" report races.jsonl >out 2>err
same report "$?" 66
has report-text out "data race on global \`global.b\`"
fingerprint=$(sed -n 's/.*Fingerprint \(dh[0-9]*-[0-9a-f]*\).*/\1/p' out)
# shellcheck disable=SC2086
chase $sure --pair "meet.c:$first:write:meet.c:$second:read" -- ./meet global
has same-fingerprint err "Fingerprint $fingerprint"
"$deadheat" cc -g -O2 "$programs/meet.c" -D_GNU_SOURCE -pthread -o meet-run
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do # the second may come too late
    "$deadheat" run -- ./meet-run >out 2>err
    [ $? -eq 66 ] && break
done
has fingerprint-of-run err "Fingerprint $fingerprint"
echo 'race:^second$' >known
# shellcheck disable=SC2086
chase $sure --suppressions=known --pair "meet.c:$first:write:meet.c:$second:read" -- ./meet global
same suppressed "$status" 3
# shellcheck disable=SC2086
chase $sure --exitcode=9 --pair "meet.c:$first:write:meet.c:$second:read" -- ./meet global
same exitcode "$status" 9

# ---- Many pairs, one in each run ----
# Only with the first access waiting are the two certain to meet, so a second confirmation is luck.
table() { # NAME WANTED: tried, reached, confirmed, not seen, timeout, not chased, left
    same "$1" "$(awk '/^tried / { getline; $4 = ""; print }' err | xargs)" "$2"
}
"$deadheat" run --output=run.jsonl --report=0 -- ./meet-run >out 2>err
"$deadheat" report --format=json races.jsonl >races.json 2>err
"$deadheat" report --format=jsonl races.jsonl >findings.jsonl 2>err
"$deadheat" static --format=json -D_GNU_SOURCE "$programs/meet.c" >static.json
for input in races.jsonl races.json findings.jsonl; do
    # shellcheck disable=SC2086
    chase $sure --from $input -- ./meet global
    same "from-$input" "$status:$(sort -u out)" 66:OK
    has "from-$input-words" err "Fingerprint $fingerprint" "meet.c:$first with meet.c:$second: confirmed"
    table "from-$input-table" "1 1 1 0 0 0 0"
done
if grep -q '"type":"race"' run.jsonl; then # the second may come too late
    # shellcheck disable=SC2086
    chase $sure --from run.jsonl -- ./meet global
    same from-run "$status" 66
    has from-run-words err "Fingerprint $fingerprint"
else
    skip from-run "no race was seen to confirm"
fi
# shellcheck disable=SC2086
chase $sure --from=static.json -- ./meet global
same from-static "$status" 66
has from-static-words err "Fingerprint $fingerprint" "meet.c:$second with meet.c:$first: confirmed"
# shellcheck disable=SC2086
chase $short --from races.jsonl -- ./meet apart
same from-apart "$status" 0
table from-apart-table "1 1 0 1 0 0 0"
lacks from-apart-race err "data race"

"$deadheat" cc --dh-mode=field -g -O2 -D_GNU_SOURCE -pthread "$programs/meet.c" -o meet-field
# shellcheck disable=SC2086
chase $sure --all --state=all.state --summary=all.json -- ./meet-field global
same all "$status" 66
has all-words err "meet.c:$first with meet.c:$second: confirmed" "not chased: there is no such access in the machine code"
table all-table "2 2 1 1 0 1 0"
has all-json all.json '"confirmed": 1' '"not_chased": 1' '"outcome": "confirmed"'
found=$(sed -n 's/.*"fingerprint": "\(.*\)".*/\1/p' all.json)
has all-fingerprint err "Fingerprint $found"
cp all.state before
# shellcheck disable=SC2086
chase $sure --all --state=all.state -- ./meet-field global
same all-again "$status:$(cat out)" 66:
table all-again-table "2 2 1 1 0 1 0"
same all-again-state "$(cat all.state)" "$(cat before)"
printf '{"type":"run","pair":"half' >>all.state # as if it had been killed while it wrote
# shellcheck disable=SC2086
chase $sure --all --state=all.state -- ./meet-field global
same all-torn "$status:$(cat all.state)" "66:$(cat before)"
# Killed at any moment, it goes on with the run it was at.
"$deadheat" chase --rmax=100% --delay=50ms --trials=5 --all --state=killed.state -- ./meet-field apart >out 2>err &
chaser=$!
until [ "$(grep -c '"outcome"' killed.state 2>/dev/null)" -ge 3 ] 2>/dev/null; do
    kill -0 $chaser 2>/dev/null || break
    sleep 0.02
done
kill -KILL $chaser
wait $chaser 2>/dev/null
done_before=$(grep -c '"outcome".*}$' killed.state)
chase --rmax=100% --delay=50ms --trials=5 --all --state=killed.state --summary=killed.json -- ./meet-field apart
same killed "$status:$(grep -c '"outcome"' killed.state)" 0:20
table killed-table "2 2 0 2 0 1 0"
has killed-runs killed.json "\"runs\": $((20 - done_before)),"
chase --budget=1s --rmax=100% --delay=400ms --trials=1000 --all --summary=budget.json -- ./meet-field apart
same all-budget "$status" 0
lacks all-budget-runs budget.json '"runs": 2000'

# ---- The same order again ----
again=$(sed -n 's/.*Fingerprint \(dh[0-9]*-[0-9a-f]*\).*/\1/p' stop.err | head -1)
persist --trials=8 --replay="$again" --from alternate.jsonl -- ./stop
same replay "$status" 66
has replay-words err "in this order the program was killed by SIGSEGV" "Fingerprint $again" "the earlier access last"
persist --trials=8 --replay="$found" --state=all.state -- ./meet-field global
same replay-state "$status" 66
has replay-state-words err "Fingerprint $found" "the earlier access first"

# ---- What the program can see ----
for p in signals stacks fork cancel clean filter hammer plugin waits; do
    build gcc "-O1" "$p"
done
build gcc "-O1 -DPLUGIN -fPIC -shared" plugin plugin.so
# shellcheck disable=SC2086
chase $short --exitcode=0 --pair "$(self signals)" -- ./signals
same signals "$status:$(cat out)" 132:OK
# shellcheck disable=SC2086
chase $short --exitcode=0 --pair "$(self signals)" -- ./signals trap
same signals-trap "$status:$(cat out)" 133:OK
# Where there may be watchpoints, SIGTRAP is the library's, too.
# shellcheck disable=SC2086
chase $short --exitcode=0 --any="signals.c:$(line signals FIRST)" -- ./signals trap
same signals-watched "$status:$(cat out)" 133:OK
# shellcheck disable=SC2086
chase $short --exitcode=0 --any="waits.c:$(line waits FIRST)" -- ./waits 5
same waits-watched "$status:$(cat out)" 0:OK
# shellcheck disable=SC2086
chase $short --exitcode=0 --pair "$(self waits)" -- ./waits 4
same waits-illegal "$status:$(cat out)" 0:OK
# And where there are none, it is not.
# shellcheck disable=SC2086
chase $short --exitcode=0 --pair "$(self waits)" -- ./waits 5 signalfd
same waits "$status:$(cat out)" 0:OK
for p in stacks fork cancel; do
    # shellcheck disable=SC2086
    chase $short --pair "$(self $p)" -- ./$p
    same "$p" "$(cat out)" OK
done
build gcc -O1 tiny
for what in "--pair=$(self tiny)" "--any=tiny.c:$(line tiny FIRST)"; do
    # shellcheck disable=SC2086
    chase $short --stats --exitcode=0 "$what" -- ./tiny
    same "tiny${what%%=*}" "$status:$(cat out)" 0:OK
    lacks "tiny-traps${what%%=*}" err " 0 traps"
done
build gcc -O1 tight
# shellcheck disable=SC2086
chase $short --exitcode=0 --pair "$(self tight)" -- ./tight
same tight "$status:$(cat out)" 0:OK
lacks tight-traps err " 0 traps"
# shellcheck disable=SC2086
chase $short --pair "$(self cancel)" -- ./cancel exit
same exit-while-waiting "$status:$(cat out)" 4:OK
build gcc "-O2 -w -D_FORTIFY_SOURCE=2" blocks
for how in attr sigblock sigsetmask sighold sigset sigignore ppoll epoll_pwait2 timer; do
    ./blocks $how >plain
    # shellcheck disable=SC2086
    chase $short --pair "$(self blocks)" -- ./blocks $how
    same "blocks-$how" "$status:$(cat out)" "0:$(cat plain)"
    lacks "blocks-$how-traps" err " 0 traps"
done
KEPT=1 ./clean >plain
chase --pair "$(self clean)" -- env -i true
has no-debug-information err "has no debug information"
KEPT=1 "$deadheat" chase --pair "$(self clean)" -- ./clean >out 2>err
same unseen "$?:$(cat out)" "5:$(cat plain)"
preload=$(ldd ./clean | awk '/libc.so/ { print $3 }')
LD_PRELOAD=$preload KEPT=1 ./clean >plain
LD_PRELOAD=$preload KEPT=1 "$deadheat" chase --pair "$(self clean)" -- ./clean >out 2>err
same unseen-preload "$?:$(cat out)" "5:$(cat plain)"
chase --pair "$(self filter)" -- ./filter
same filter "$status:$(cat out)" 2:OK
has filter-words err "given up: the program has restricted its system calls"
# What the kernel says of it is long if its user is in many groups.
if [ "$(id -u)" -eq 0 ]; then
    python3 -c "import os, sys; os.setgroups(range(100000, 101500)); os.execv(sys.argv[1], sys.argv[1:])" \
        "$deadheat" chase --pair "$(self filter)" -- ./filter >out 2>err
    same filter-groups "$?:$(cat out)" 2:OK
    has filter-groups-words err "given up: the program has restricted its system calls"
else
    skip filter-groups "only root can join groups"
fi
# shellcheck disable=SC2086
chase $sure --module=plugin.so --pair "plugin.c:$(line plugin FIRST):plugin.c:$(line plugin SECOND)" -- ./plugin ./plugin.so
same plugin "$status:$(cat out)" 66:OK
has plugin-words err "#0 look" "#1 second" "#0 touch" "#1 first" "in plugin.so"
chase --module=plugin.so --pair "$(self plugin)" -- ./plugin ./none
has plugin-missing err "the program has never loaded the module of the pair"

# ---- Every instruction is executed, exactly once ----
pair="hammer.c:$(line hammer A):hammer.c:$(line hammer B)"
for how in 'gcc:-O2' 'clang-19:-O0' 'gcc:-O2 -mavx2 -ftree-vectorize'; do
    build "${how%%:*}" "${how#*:}" hammer
    "$obj/tests/field/field-stress" "$library" "$pair" ./hammer 8 400 signals >out 2>err
    same "stress-$(echo "$how" | tr -d ': ')" "$?:$(cat out)" 0:OK
    lacks "stress-traps-$(echo "$how" | tr -d ': ')" err " 0 traps"
done
"$obj/tests/field/field-stress" "$library" "$pair" ./hammer 100 100 >out 2>err
same stress-threads "$?:$(cat out)" 0:OK
for p in signals stacks fork cancel; do
    "$obj/tests/field/field-stress" "$library" "$(self $p)" ./$p >out 2>err
    same "stress-$p" "$(cat out)" OK
    lacks "stress-$p-traps" err " 0 traps"
done

# ---- A command that gets no processor keeps nobody waiting ----
build gcc -O2 meet absent
pair="meet.c:$first:write:meet.c:$second:read"
for since in 'held apart nobody was' 'expired apart nobody was' 'shown global two that were'; do
    # shellcheck disable=SC2086
    set -- $since
    "$obj/tests/field/field-stress" --absent="$1" "$library" "$pair" ./absent "$2" >out 2>err
    same "absent-$1" "$?:$(cat out)" 3:OK
    has "absent-$1-went" err "the first went on, ${since#* * } to be shown"
done

# ---- Every kind of access, from both compilers ----
for how in 'gcc:-O0' 'gcc:-O2' 'clang-19:-O0' 'clang-19:-O2'; do
    name=$(echo "$how" | tr -d ':')
    build "${how%%:*}" "${how#*:}" kinds
    missing=
    grep -n '// LINE' "$programs/kinds.c" >lines
    while IFS=: read -r number rest; do
        # One of the two sides must be able to be chased, or nothing is listed on standard output.
        chase --list --pair "kinds.c:$number:*:kinds.c:$(grep -n 'global = 4' "$programs/kinds.c" | cut -d: -f1):*" -- ./kinds
        echo "${rest##*// LINE }" | tr ';' '\n' >wanted
        while read -r text; do
            cat out err | grep -qF -- ": $text" || missing="$missing $number ($text)"
        done <wanted
    done <lines
    same "kinds-$name" "$missing" ""
done

# ---- What the compiler has merged out of two lines has none ----
build clang-19 -O2 merged
pair="merged.c:$(line merged FIRST):write:merged.c:$(line merged SECOND):read"
# shellcheck disable=SC2086
chase $sure --output=merged.jsonl --pair "$pair" -- ./merged
same merged "$status:$(cat out)" 66:OK
has merged-words err "the compiler has merged the access at merged.c:$(line merged FIRST):write with others" "#0 set" \
    "data race on global \`now\`"

# ---- An instruction of two lines is found by the line of its statement ----
for how in 'gcc:-O1' 'gcc:-O2' 'clang-19:-O2'; do
    name=$(echo "$how" | tr -d ':')
    build "${how%%:*}" "${how#*:}" getter
    # shellcheck disable=SC2086
    chase $sure --pair "getter.c:$(line getter FIRST):write:getter.c:$(line getter SECOND):read" -- ./getter
    same "getter-$name" "$status:$(cat out)" 66:OK
    has "getter-words-$name" err "#0 get" "#0 set" "data race on global \`now\`"
done
refused getter-brace "there is no code for getter.c:$(($(line getter SECOND) - 1)) in" \
    --pair "getter.c:$(line getter FIRST):write:getter.c:$(($(line getter SECOND) - 1))" -- ./getter

# ---- What cannot be done, in one sentence ----
refused no-pair "which pair?" -- ./meet
refused both-kinds "either --pair or --any" --any=meet.c:1 --pair "$(self meet)" -- ./meet
refused any-steer "--steer needs a --pair" --any --steer=primary -- ./meet
refused any-bad "--any cannot be 'meet.c'" --any=meet.c -- ./meet
refused no-program "which program?" --pair a.c:1:b.c:2
refused all-pair "--all brings its own pairs" --all --pair "$(self meet)" -- ./meet
refused all-from "either --all or --from" --all --from=races.jsonl -- ./meet
refused all-plain "'$work/meet' holds no table of pairs" --all -- ./meet
refused state-alone "--state is for many pairs" --state=x --pair "$(self meet)" -- ./meet
refused from-missing "cannot read 'none': No such file" --from none -- ./meet
refused from-other "'known' holds neither race records nor findings" --from known -- ./meet
refused from-zeros "'/dev/zero' holds neither race records nor findings" --from=/dev/zero -- ./meet
# Of what does not begin like either, no more is read.
cat >endless.py <<'END'
import os, sys
sent = 0
try:
    while sent < 1 << 28:
        sent += os.write(1, b" [" * 32768)
except BrokenPipeError:
    pass
print(sent < 1 << 20, file=sys.stderr)
END
{ python3 endless.py 2>sent; } | "$deadheat" chase --from=/dev/stdin -- ./meet >out 2>err
same from-endless "$?:$(cat sent)" 2:True
has from-endless-words err "'/dev/stdin' holds neither race records nor findings"
echo '{"version":1,"findings":[]}' >old.json
refused from-old "'old.json' holds findings of another version than 2" --from old.json -- ./meet
echo '{"version":2,"findings":[{"accesses":[null,{"kind":"read","stack":7}],"order":[]},5]}' >odd.json
refused from-odd "'odd.json' has no race of which both lines are known" --from odd.json -- ./meet
refused state-other-file "cannot use the state 'known': it is no state" --state=known --from races.jsonl -- ./meet
same state-kept "$(cat known)" 'race:^second$'
mkfifo pipe
for what in pipe /dev/zero; do # nothing comes from one, and no end from the other
    refused "state-${what##*/}" "cannot use the state '$what': it is no state" --state=$what --from races.jsonl -- ./meet
done
refused state-other-build "cannot use the state 'all.state': it is of another build of '$work/meet-field'" \
    --state=all.state --from races.jsonl -- ./meet
echo nonsense >>all.state
refused state-bad-line "cannot use the state 'all.state': line 6 is not JSON" --all --state=all.state -- ./meet-field
refused replay-where "--replay needs the file that the race is in" --replay=dh2-0123456789ab -- ./meet
refused replay-what "--replay cannot be 'x'" --replay=x --from races.jsonl -- ./meet
refused replay-none "'races.jsonl' has no race dh2-0123456789ab" --replay=dh2-0123456789ab --from races.jsonl -- ./meet
refused bad-budget "--budget cannot be '10'" --budget=10 --all -- ./meet-field
refused half-pair "--pair cannot be 'meet.c:1': one position is no pair" --pair meet.c:1 -- ./meet
refused no-line "there is no code for meet.c:1 in '$work/meet'" --pair "meet.c:1:meet.c:$second" -- ./meet
refused no-file "there is no code for none.c:$first in" --pair "none.c:$first:meet.c:$second" -- ./meet
build gcc -O0 meet
many=$(line meet GLOBALS)
refused many "meet.c:$many has several accesses; add the column, as in meet.c:$many:COLUMN (* for all)" \
    --pair "meet.c:$many:meet.c:$second" -- ./meet
like many-columns err "  meet.c:$many:[0-9]* at 0x[0-9a-f]*: write of 8 bytes"
refused frame "meet.c:$(line meet FRAME) accesses nothing but its function's own stack frame" \
    --pair "meet.c:$(line meet FRAME):meet.c:$second" -- ./meet
refused reads "both positions only read" --pair "meet.c:$second:read:meet.c:$second:read" -- ./meet
strip meet -o stripped
refused stripped "'$work/stripped' has no debug information" --pair "meet.c:$first:meet.c:$second" -- ./stripped
build gcc '-gz=zlib' meet packed
refused packed "both positions only read" --pair "meet.c:$second:read:meet.c:$second:read" -- ./packed
at=$(readelf -SW packed | sed -n 's/.* \.debug_info  *PROGBITS  *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')
printf 'c' | dd of=packed bs=1 seek=$((0x$at)) conv=notrunc 2>/dev/null # no kind of compression has this number
refused packed-unknown "the debug information of '$work/packed' cannot be read: it is damaged, or compressed" \
    --pair "meet.c:$first:meet.c:$second" -- ./packed
build gcc '-static' meet fixed
refused static "'$work/fixed' is linked statically" --pair "meet.c:$first:meet.c:$second" -- ./fixed
printf '#!/bin/sh\nexec ./meet\n' >script && chmod +x script
refused script "'$work/script' is a script; name the program that it runs" --pair "meet.c:$first:meet.c:$second" -- ./script
refused bad-rmax "--rmax cannot be '5'" --rmax=5 --pair "$(self meet)" -- ./meet
refused bad-delay "--delay cannot be '10'" --delay=10 --pair "$(self meet)" -- ./meet
refused bad-style "--style cannot be 'x'; see 'deadheat chase --help'" --style=x --all -- ./meet-field
refused bad-trials "--trials cannot be '1000001'; it must be a number from 1 to 1000000" --trials=1000001 --pair "$(self meet)" -- ./meet
refused flag "unknown option '--dela'; did you mean '--delay'?" --dela=1s --pair "$(self meet)" -- ./meet
chase --pair "$(self meet)" -- ./nothing
same missing "$status" 127
chase --list --pair "meet.c:$first:write:meet.c:$second" -- ./meet
same list "$status" 2
chase --list --pair "meet.c:$first:write:meet.c:$second:*" -- ./meet
same list-all "$status" 0
like list-words out "  meet.c:$first:[0-9]* at 0x[0-9a-f]*: write of 4 bytes"
exit $failed
