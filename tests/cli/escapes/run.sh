#!/bin/sh
# run.sh DEADHEAT - names that are not ours never reach the terminal as they are: no control character but tabs and ends of
# lines is in what any command prints about a program, a trace or a file of records that is made of them.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit 1
esc=$(printf '\033')
csi=$(printf '\302\233')
override=$(printf '\342\200\256')
del=$(printf '\177')
source="so${esc}[31mur${override}ce.c"
program="pro${esc}[5mgram"
sed "s/@ESC@/${esc}[8m hidden ${csi}3m${del}/" "$here/hostile.c" >"$source"
"$deadheat" cc -g -O1 -pthread "$source" -o "$program" && "$deadheat" cc -O1 -pthread "$source" -o "bare$program" &&
    cp "$source" plain.c && "$deadheat" cc --dh-mode=field -g -O1 -pthread plain.c -o plain &&
    "$deadheat" cc --dh-mode=field -g -O1 -pthread "$source" -o "field$program" || {
    bad compile "deadheat cc failed"
    exit 1
}

# NAME STATUS WORDS ARGUMENTS...: what it prints has these words in it, and nothing that steers a terminal.
tame() {
    name=$1 status=$2 words=$3
    shift 3
    "$deadheat" "$@" >out 2>&1 </dev/null
    got=$?
    sed -i 's/\r$//' out # lines of CSV
    if [ $got -ne "$status" ]; then
        bad "$name" "exit status $got, not $status: $(head -5 out | tr -d '\000-\011\013-\037' | tr '\n' '|')"
    elif LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae' out; then
        bad "$name" "$(LC_ALL=C grep -aP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae' out | head -3 | cat -v | tr '\n' '|')"
    else
        has "$name" out "$words"
    fi
}

rm -f races.jsonl
tame run 66 'so?[31mur???ce.c:14' run --output=races.jsonl -- "./$program"
tame run-without-debug 66 'bu?]0;title?mp' run --output=bare.jsonl -- "./bare$program"
tame run-variable 66 'count?[2Jer??' run -- "./bare$program"
tame run-source 66 '?[8m hidden ??3m' run -- "./$program"
tame run-thread 66 "'na?[7mme'" run -- "./$program"
tame run-lock 66 'mu?[1mtex' run -- "./bare$program"
tame run-module 66 'barepro?[5mgram' run -- "./bare$program"
for records in races bare; do
    tame report-$records 66 'data race on global `count' report $records.jsonl
    tame report-json-$records 66 '"fingerprint"' report --format=json $records.jsonl
done
cp "$program" kept && rm "$program"
tame report-gone 66 'cannot read' report races.jsonl
cp kept "$program"
printf '{"v":1,"type":"x%s[2J"}\nno %s[2J\n' "$esc" "$esc" >"bad${esc}[1m.jsonl"
tame report-bad-lines 2 'bad?[1m.jsonl:2: not JSON' report "bad${esc}[1m.jsonl"
tame report-no-file 2 'absent?[2J' report "absent${esc}[2J"
: >"empty${esc}[2J"
tame report-empty-github 2 'deadheat::empty?[2J: no process' report --format=github "empty${esc}[2J"
printf 'race:no%s[2Jthing\nnon%s[2Jsense\n' "$esc" "$esc" >known
tame report-suppressions 66 'no?[2Jthing suppressed 0' report --stats --suppressions=known races.jsonl
sed "s/\"path\":\"[^\"]*$program\"/\"path\":\"\/x\\\\u001b[2J\"/; s/\"name\":\"[^\"]*\"/\"name\":\"\\\\u009bm\"/" bare.jsonl >made.jsonl
DEADHEAT_TEST="te${esc}[2Jst${csi}m" "$deadheat" run --report=0 --output=test.jsonl -- "./$program"
for format in html csv json jsonl sarif junit github gitlab; do
    for records in bare test; do
        tame report-$records-$format 66 dh2- report --format=$format $records.jsonl
    done
done
tame report-test 66 'te?[2Jst??m' report --format=csv test.jsonl
tame report-made-up 66 'Location:' report made.jsonl

# What a program says by itself about the options that it finds.
for options in "no${esc}[2J=${csi}1" "output=/nowhere/${csi}2J" "exitcode=${esc}[2J"; do
    DEADHEAT_OPTIONS=$options "./$program" >out 2>&1
    if LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\x9b' out; then bad options "$(cat -v out | head -1)"; else ok options; fi
done

for kind in "" bare; do
    tame "record-$kind" 0 ' events, ' record -o "$kind${esc}[2J.dht" -- "./$kind$program"
    for detector in fasttrack wcp; do
        tame "analyze-$kind-$detector" 66 'by thread T' analyze --detector=$detector "$kind${esc}[2J.dht"
    done
    tame "cat-$kind" 0 '|write(' trace cat "$kind${esc}[2J.dht"
    tame "info-$kind" 0 '?[2J.dht: ' trace info "$kind${esc}[2J.dht"
    tame "compare-$kind" 66 'reported by' compare --detectors=fasttrack,djit "$kind${esc}[2J.dht"
    tame "compare-program-$kind" 66 'reported by' compare --detectors=fasttrack -- "./$kind$program"
done
tame analyze-json 66 '"findings"' analyze --format=json "${esc}[2J.dht"
tame analyze-html 66 'hidden ??3m?' analyze --format=html "${esc}[2J.dht"
for format in csv json; do
    tame compare-$format 66 'fasttrack' compare --format=$format --detectors=fasttrack "${esc}[2J.dht"
done

# Text may have no control characters of ASCII in its names, but others.
{
    echo "T${csi}1|fork(T2)|1"
    echo "T${csi}1|acq(l${override})|1"
    echo "T${csi}1|w(x${csi}2J)|2"
    echo "T${csi}1|rel(l${override})|1"
    echo "T2|w(x${csi}2J)|3"
} >t.std
tame cat-text 0 'T??1|w(x??2J)|2' trace cat t.std
tame analyze-text 66 'x??2J: write by T2 at 3 (event 5), earlier write by T??1 at 2' analyze t.std
tame compare-text 66 'x??2J     fasttrack' compare --detectors=fasttrack t.std
"$deadheat" trace convert -o t.dht t.std && "$deadheat" trace convert -o back.std t.dht
same convert-keeps-names "$(cmp t.std back.std 2>&1)" ""
tame cat-converted 0 'T??1|write(x??2J)|2' trace cat t.dht
echo "T1|rel(l${override})|1" >bad.std
tame error-of-a-text 2 'releases lock l???' analyze bad.std

# What can be chased on a line, and each pair that the program carries with what became of it.
pair="$source:14:$source:14"
tame chase-list 0 'so?[31mur???ce.c:14:12 at 0x' chase --list --pair "$pair" -- "./field$program"
tame chase-all 0 'so?[31mur???ce.c:14 with so?[31mur???ce.c:14: ' chase --all --budget=10s -- "./field$program"

tame static 0 'so?[31mur???ce.c:14' static "./field$program"
tame static-source 0 '?[8m hidden ??3m' static ./plain
tame static-explain-source 0 '?[8m hidden ??3m' static --explain=P1 ./plain
tame static-explain 0 'so?[31mur???ce.c:14' static --explain=P1 "./field$program"
tame static-stats 0 'The analysis:' static --stats "./field$program"
tame static-json 0 '"command":"static"' static --format=json ./plain
tame static-html 0 'hidden ??3m?' static --format=html ./plain
tame static-sarif 0 '"version"' static --format=sarif ./plain

exit $failed
