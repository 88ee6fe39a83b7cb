#!/bin/sh
# run.sh DEADHEAT - `deadheat report` on hand-written records about target.c, which is compiled here so that
# there is a real ELF file to look into. Prints `ok NAME` or `FAIL NAME: why` for each case.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit 1
cp "$here/target.c" target.c
clang-19 -g -O1 -pthread -Wl,--build-id target.c -o target || { bad compile "clang-19 failed"; exit 1; }
nm target >symbols

# The address of a symbol, plus $2, as hex.
at() {
    addr=$(awk -v name="$1" '$3 == name { print $1 }' symbols)
    printf '0x%x' $((0x$addr + ${2:-0}))
}
# A frame: the address behind the label, since the symboliser looks one byte before.
frame() { printf '[0,"%s"]' "$(at "at_$1" 1)"; }
build_id=$(readelf -n target | sed -n 's/.*Build ID: //p')

head_lines() {
    cat <<END
{"v":1,"type":"process","pid":4711,"exe":"$work/target","argv0":"target","detector":"fasttrack","cwd":"$work"}
{"v":1,"type":"module","id":0,"path":"$work/target","build_id":"$1","lo":"0x1000","hi":"0x9000","bias":"0x1000"}
{"v":1,"type":"thread","uid":1,"name":"main","parent":0,"tid":4711,"created_at":[]}
{"v":1,"type":"thread","uid":2,"name":"worker","parent":1,"tid":4712,"created_at":[$(frame create),[-1,"0x10"]]}
END
}
# race ID WHERE LOCATION: thread 2 writes at label WHERE, thread 1 wrote in main.
race() {
    echo '{"v":1,"type":"race","id":'"$1"',"accesses":[' \
        '{"kind":"'"${kind:-write}"'","atomic":'"${atomic:-false}"',"range":false,"addr":"0x5008","size":4,"thread":2,' \
        '"stack":['"$(frame "$2")"'],"stack_folded":false,"locks":['"${locks:-}"']},' \
        '{"kind":"'"${kind2:-write}"'","addr":"0x5008","size":4,"thread":1,"stack":['"$(frame main)"'],' \
        '"locks":['"${locks2:-}"']}],"location":'"$3"'}'
}
global() { printf '{"kind":"global","module":0,"offset":"%s"}' "$(at "$1" "${2:-0}")"; }
mutex='{"addr":"0x5040","mode":"write","module":0,"offset":"'$(at m)'","acquired_at":['$(frame lock)']}'
counters='{"v":1,"type":"counters","values":{"RACES":3,"BLIND_MODULES":2,"COLLECTIONS":0}}'

report() { # ARGUMENTS: sets status, fills out and err
    "$deadheat" report "$@" >out 2>err
    status=$?
}

# ---- The whole of a report, to the letter ----
{
    head_lines "$build_id"
    locks=$mutex race 1 bump "$(global counter)"
    echo '{"v":1,"type":"repeat","id":1,"count":2}'
    echo "$counters"
    echo '{"v":1,"type":"end","races":1}'
} >full.jsonl
report full.jsonl
if diff "$here/expected.txt" out >diff.txt; then
    ok exact-text
else
    bad exact-text "$(head -20 diff.txt | tr '\n' '|')"
fi
same exit-status-races "$status" 66
same summary "$(cat err)" "deadheat: 1 data race (2 repetitions)"
sed 's/"name":"worker"/"name":"w\\n\\u001b[31m"/' full.jsonl >names.jsonl
report names.jsonl
has control-characters-in-names out "thread T2 'w??[31m'"
report - <full.jsonl
same standard-input "$status" 66

# ---- Names of variables ----
{
    head_lines "$build_id"
    race 1 bump "$(global stats)"
    race 2 lock "$(global stats 28)"
    race 3 bump "$(global worker.calls)"
    race 4 bump "$(global hidden 4)"
    race 5 bump '{"kind":"heap","start":"0x5000","size":40,"offset":8,"thread":1,"allocated_at":['"$(frame create)"'],"freed":false}'
    race 6 bump '{"kind":"stack","thread":1,"offset_from_top":64}'
    race 7 bump '{"kind":"tls","thread":2}'
    race 8 bump '{"kind":"unknown"}'
    race 9 bump '{"kind":"global","module":0,"offset":"0x1"}'
} >places.jsonl
report --source=0 places.jsonl
has variable-member out 'data race on global `stats.hits`' 'global `stats.hits`, at the start of `stats` (40 bytes), declared at target.c:14, in target'
has variable-array out 'data race on global `stats.range[2].high`' '28 bytes into `stats` (40 bytes)'
has variable-static-local out 'data race on static `calls` of `worker`'
has variable-offset out 'data race on global `hidden + 4`'
has heap-block out 'data race on a heap block of 40 bytes' '8 bytes into a heap block of 40 bytes at 0x5000, allocated by thread T1 '"'main'" '#0 main target.c:46'
has stack-owner out "data race on the stack of thread T1 'main'"
has tls out "a thread-local variable of thread T2 'worker'"
has unknown-memory out 'memory that is neither heap, global nor a stack'
has global-without-name out 'global memory (target+0x1)'
lacks no-source out 'counter++'
report --all --format=json places.jsonl
same locations-json "$(python3 -c 'import json
for f in json.load(open("out"))["findings"]:
    at = f["location"]
    print(at["kind"], *sorted(k for k in at if k not in ("kind", "short")))')" \
    "global display file line module module_offset name size
global display file line module module_offset name offset size
global display file function line module module_offset name size
global display file line module module_offset name offset size
heap allocated_at freed offset size start thread
stack thread
tls thread
unknown
global module module_offset"

# ---- Explanations ----
{
    head_lines "$build_id"
    race 1 bump "$(global counter)"
} >plain.jsonl
report plain.jsonl
has explain-no-locks out "Neither thread T2 'worker' nor thread T1 'main' held a lock."
{
    head_lines "$build_id"
    locks=$mutex locks2='{"addr":"0x9999","mode":"write","acquired_at":['$(frame create)']}' race 1 bump "$(global counter)"
} >two.jsonl
report two.jsonl
has explain-different-locks out "Thread T2 'worker' held \`m\` for this access; thread T1 'main' held \`M1\`: no lock in common." \
    'Lock `M1` at 0x9999, taken by thread T1'
{
    head_lines "$build_id"
    rw='{"addr":"0x5060","mode":"read","module":0,"offset":"'$(at rw)'"}'
    locks=$rw locks2=$rw race 1 bump "$(global counter)"
} >rw.jsonl
report rw.jsonl
has explain-read-locks out 'Both threads held `rw`, but only for reading' 'holding `rw` (for reading):'
{
    head_lines "$build_id"
    atomic=true race 1 bump "$(global counter)"
} >atomic.jsonl
report atomic.jsonl
has explain-atomic out "Thread T2 'worker' made an atomic access, thread T1 'main' a plain one" 'Atomic write of 4 bytes'
{
    head_lines "$build_id"
    kind2=free race 1 bump '{"kind":"heap","start":"0x5000","size":40,"offset":8,"thread":1,"freed":true}'
    kind=free race 2 lock '{"kind":"heap","start":"0x5000","size":40,"offset":8,"thread":1,"freed":true}'
} >free.jsonl
report free.jsonl
has explain-use-after-free out 'use-after-free race on a heap block' "Thread T2 'worker' used memory that thread T1 'main' had freed" \
    'Earlier free of 4 bytes' 'a freed heap block' "Thread T2 'worker' freed memory without waiting for thread T1 'main'"

# ---- Suppressions ----
suppressed() { # NAME LINE WANTED-STATUS
    echo "$2" >supp.txt
    report --suppressions=supp.txt full.jsonl
    same "suppress-$1" "$status" "$3"
}
suppressed function race:bump 0
same suppressed-summary "$(cat err)" "deadheat: 0 data races, 1 suppressed"
suppressed inlined-caller 'race:^worker$' 0
suppressed other-stack 'race:^main$' 0
suppressed file race:target.c 0
suppressed file-anchored 'race:^target.c$' 0
suppressed module 'race:/target$' 0
suppressed variable race:counter 0
suppressed nothing race:no_such_name 66
suppressed top-is-inner 'race_top:^bump$' 0
suppressed top-not-caller 'race_top:^worker$' 66
suppressed library called_from_lib:target 0
suppressed not-a-library called_from_lib:bump 66
suppressed other-types "$(printf 'thread:*\nmutex:*\nsignal:*\ndeadlock:*')" 66
suppressed star 'race:b*p$' 0
suppressed fingerprint fingerprint:dh2-e0209063d6c4 0
suppressed old-fingerprint fingerprint:dh1-be7c2bb5b5b6 0
suppressed other-fingerprint fingerprint:dh2-be7c2bb5b5b6 66
suppressed part-of-fingerprint fingerprint:dh2-e0209063d6 66
has suppress-bad-fingerprint err 'supp.txt:1: not a fingerprint as reports have it: dh2- and 12 hex digits'
suppressed comment '#race:bump' 66
suppressed bad-lines-keep-others "$(printf 'nonsense\nrace:bump')" 0
has suppress-line-number err 'deadheat: supp.txt:1: not of the form type:pattern'
report --stats --suppressions=supp.txt full.jsonl
has suppress-usage err 'deadheat: supp.txt:2: bump suppressed 1' '  loaded modules that were not compiled by deadheat'
sed 's/"process":"./"process":"f/; s/"pid":[0-9]*/"pid":9/' full.jsonl | cat full.jsonl - >twice.jsonl # the same race of another process
report --stats --suppressions=supp.txt twice.jsonl
has suppress-usage-once err 'deadheat: 0 data races, 1 suppressed' 'deadheat: supp.txt:2: bump suppressed 1'
report --suppressions=absent.txt full.jsonl
same suppress-no-file "$status" 2
has suppress-no-file-sentence err 'cannot read the suppressions absent.txt: No such file or directory'

# ---- Libraries that a stack begins in: opened only for those who ask for their names ----
{
    head_lines "$build_id"
    echo '{"v":1,"type":"module","id":1,"path":"/usr/lib/absent.so","build_id":"","lo":"0xa000","hi":"0xb000","bias":"0xa000"}'
    race 1 bump "$(global counter)" | sed 's/\],"stack_folded"/,[1,"0x10"]],"stack_folded"/'
    echo '{"v":1,"type":"end","races":1}'
} >below.jsonl
report below.jsonl
same library-below-unopened "$(cat err)" "deadheat: 1 data race"
report --format=json below.jsonl
has library-below-in-json out '/usr/lib/absent.so'
echo called_from_lib:absent.so >supp.txt
report --suppressions=supp.txt below.jsonl
same library-below-suppressed "$status" 0

# ---- The file that ran, or not ----
{
    head_lines 0123456789abcdef0123456789abcdef01234567
    race 1 bump "$(global counter)"
} >stale.jsonl
report stale.jsonl
has build-id-differs err 'target is not the file that ran (its build id differs: it was rebuilt)'
has build-id-offsets out "#0 ?? (target+$(at at_bump 1))"
sed "s|$work/target\"|$work/gone\"|" full.jsonl >gone.jsonl
report gone.jsonl
same file-gone "$status" 66
has file-gone-sentence err "cannot read $work/gone (No such file or directory)"
strip -g target -o stripped && sed "s|$work/target\"|$work/stripped\"|" full.jsonl >stripped.jsonl
report stripped.jsonl
has symbols-only out '#0 worker (stripped+0x' 'global `counter` (4 bytes), in stripped'
objcopy --only-keep-debug target stripped.debug && objcopy --add-gnu-debuglink=stripped.debug stripped
report stripped.jsonl
has separate-debug-file out '#0 bump target.c:22:12 [inlined]' '#2 worker target.c:36'
cp target target.saved
for how in '-gdwarf-4' '-no-pie' '-fuse-ld=lld-19' '-gdwarf-5 -gsplit-dwarf' '-O0' '-gdwarf-5 -gz=zlib'; do
    # shellcheck disable=SC2086
    clang-19 -g -O1 $how -pthread -Wl,--build-id target.c -o target
    nm target >symbols
    { head_lines ""; locks='{"addr":"0x5040","mode":"write","module":0,"offset":"'$(at m)'"}' race 1 bump "$(global counter)"; } >form.jsonl
    report form.jsonl
    has "debug$(echo "$how" | tr -d ' ')" out '#0 bump target.c:22:12 [inlined]' '#1 bump_twice target.c:27:5 [inlined]' \
        '#2 worker target.c:36:5' 'declared at target.c:13' 'holding `m`'
done

mv target.saved target

# ---- Colour, JSON ----
esc=$(printf '\033')
report plain.jsonl
lacks no-colour out "$esc"
report --color=always plain.jsonl
has colour out "$esc[1;31m"
report --format=json full.jsonl
same json-exit-status "$status" 66
has json out '"version":2' '"function":"bump"' '"line":22' '"inlined":true' '"display":"counter"' '"name":"m"' \
    '"count":3' '"repetitions":2' '"BLIND_MODULES":2' '"fingerprint":"dh2-e0209063d6c4"' '"dh1-be7c2bb5b5b6"'

# ---- Bad input, and none ----
{ head -2 full.jsonl; echo 'not json'; tail -n +3 full.jsonl; printf '{"v":1,"ty'; } >broken.jsonl
report broken.jsonl
same bad-line-status "$status" 2
has bad-line-number err 'broken.jsonl:3: not JSON' 'broken.jsonl:10: not JSON'
has bad-line-keeps-races out 'global `counter`'
report absent.jsonl
same absent-status "$status" 2
report --formt=json full.jsonl
same unknown-flag "$status:$(cat err)" "2:deadheat report: error: unknown option '--formt'; did you mean '--format'?"
report --suppressions supp.txt full.jsonl
same flag-without-value "$status:$(cat err)" "2:deadheat report: error: --suppressions needs a value: --suppressions=VALUE"
report --format=xml full.jsonl
has bad-format err "--format cannot be 'xml'; it must be text, json, jsonl, sarif, junit, github, gitlab, csv or html"

# ---- As the runtime starts it ----
"$deadheat" report --from-runtime <full.jsonl >out 2>err
same runtime-status "$?" 66
has runtime-report err 'global `counter`' 'deadheat: 1 data race (2 repetitions)' 'write at target.c:22, write at target.c:48: 3 times'
same runtime-stdout-is-the-programs "$(cat out)" ""
DEADHEAT_OPTIONS="report=0" "$deadheat" report --from-runtime <full.jsonl >out 2>err
same runtime-silent-status "$?" 66
same runtime-silent "$(cat out err)" ""
echo race:bump >supp.txt
DEADHEAT_OPTIONS="suppressions='$work/supp.txt':color=always" "$deadheat" report --from-runtime <full.jsonl >out 2>err
same runtime-suppressed "$?" 0
head -4 full.jsonl | "$deadheat" report --from-runtime >out 2>err
same runtime-no-race-is-silent "$?$(cat out err)" 0
# A race is printed as soon as its record arrives, and the reporter lives until its input ends.
mkfifo records reports
"$deadheat" report --from-runtime <records 2>reports &
reporter=$!
exec 9>records 8<reports
head -5 full.jsonl >&9
while read -r line <&8; do
    case $line in Fingerprint*) break ;; esac
done
case $line in
Fingerprint*) ok streaming ;;
*) bad streaming "the report did not come" ;;
esac
kill -INT $reporter
kill -TERM $reporter
exec 9>&-
wait $reporter
same outlives-signals "$?" 66
exec 8<&-

# ---- C++ ----
cat >cxx.cpp <<'END'
#include <mutex>
#include <string>
#include <vector>
namespace ns {
template <class T> struct Box {
    T value;
    std::mutex lock;
    __attribute__((noinline)) void put(T v)
    {
        __asm__ volatile(".globl at_put\nat_put:" ::: "memory");
        value = v;
    }
};
Box<long> box;
template <class T> struct Counted {
    static long count;
};
template <class T> long Counted<T>::count;
__attribute__((noinline)) void fill(std::vector<std::string> &)
{
    __asm__ volatile(".globl at_fill\nat_fill:" ::: "memory");
    Counted<std::string>::count++;
}
} // namespace ns
int main()
{
    std::vector<std::string> v;
    ns::fill(v);
    ns::box.put(1);
}
END
clang++-19 -g -O1 cxx.cpp -o target && nm target >symbols
cat >cxx.jsonl <<END
{"v":1,"type":"module","id":0,"path":"$work/target","build_id":""}
{"v":1,"type":"race","id":1,"accesses":[{"kind":"write","addr":"0x1","size":8,"thread":1,"stack":[$(frame put)],"locks":[{"addr":"0x9","mode":"write","module":0,"offset":"$(at _ZN2ns3boxE 8)"}]},{"kind":"read","addr":"0x1","size":8,"thread":2,"stack":[$(frame put)]}],"location":$(global _ZN2ns3boxE)}
END
report cxx.jsonl
has cxx-names out 'global `ns::box.value`' '#0 ns::Box<long>::put(long) cxx.cpp:11' 'holding `ns::box.lock`'

string='std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >'
fill="ns::fill(std::vector<$string, std::allocator<$string > >&)"
count=$(awk '$3 ~ /Counted.*count/ { print $3 }' symbols)
cat >short.jsonl <<END
{"v":1,"type":"module","id":0,"path":"$work/target","build_id":""}
{"v":1,"type":"race","id":1,"accesses":[{"kind":"write","addr":"0x1","size":8,"thread":1,"stack":[$(frame fill)]},{"kind":"read","addr":"0x1","size":8,"thread":2,"stack":[$(frame fill)]}],"location":$(global "$count")}
END
report short.jsonl
has cxx-short out '#0 ns::fill(std::vector<std::string>&) cxx.cpp:' 'global `ns::Counted<std::string>::count` (8 bytes)'
lacks cxx-short-only out allocator
short=$(grep Fingerprint out)
report --full-names --source=0 short.jsonl
has cxx-full out "#0 $fill cxx.cpp:" "global \`ns::Counted<$string >::count\`"
lacks cxx-full-only out std::string
same cxx-one-fingerprint "$(grep Fingerprint out)" "$short"
DEADHEAT_OPTIONS=full_names=1 "$deadheat" report --from-runtime <short.jsonl >out 2>err
has cxx-full-option err "#0 $fill cxx.cpp:"
report --format=json short.jsonl
has cxx-json out "\"function\":\"$fill\"" '"short":"ns::fill(std::vector<std::string>&)"' '"short":"ns::Counted<std::string>::count"' \
    "\"display\":\"ns::Counted<$string >::count\"" '"summary":"global `ns::Counted<std::string>::count`"'
suppressed_cxx() { # NAME PATTERN
    echo "race:^$2\$" >supp.txt
    report --suppressions=supp.txt short.jsonl
    has "cxx-suppress-$1" err '1 suppressed'
}
suppressed_cxx full "$fill"
suppressed_cxx short 'ns::fill(std::vector<std::string>&)'
suppressed_cxx full-variable "ns::Counted<$string >::count"
suppressed_cxx short-variable 'ns::Counted<std::string>::count'

exit $failed
