#!/bin/sh
# run.sh DEADHEAT - `deadheat run --filter=STATE`: what a full build skips by what `deadheat caper` has learnt, what it
# says of that, and what it refuses.
. "$(dirname "$0")/../../cli/lib.sh"
suite=caper/filter
cd "$work" || exit 1

caper() { "$deadheat" cc --dh-mode=caper -g -O1 -pthread "$@" >log 2>&1 || bad "build $*" "$(cat log)"; }
full() { "$deadheat" cc --dh-filterable -g -O1 -pthread "$@" >log 2>&1 || bad "build $*" "$(cat log)"; }
line() { grep -n "$1" log.c | sed -n "${2:-1}s/:.*//p"; } # LABEL NUMBER
run() { # ARGUMENT...: into err and status
    "$deadheat" run "$@" >out 2>err
    status=$?
}
skipped() { # NAME FILE: what is said of it, as "CHECKS SAFE UNESCAPED"
    sed -n 's/.*of \([0-9]*\) checks, the filter skipped \([0-9]*\) that cannot find anything, and \([0-9]*\) on the assumption.*/\1 \2 \3/p' "$1"
}

cp "$here/log.c" .
caper log.c -o log-caper
full log.c -o log-full
"$deadheat" caper --quiet --state=s -- ./log-caper

# A race that Caper has seen possible is found; checks of accesses that were not made so far are skipped.
run -- ./log-full
same unfiltered "$status" 66
lacks unfiltered-says-nothing err filter
run --filter=s -- ./log-full
same status "$status" 66
has race err "log.c:$(line LINES 1)" "log.c:$(line LINES 2)"
# shellcheck disable=SC2046
set -- $(skipped err)
if [ "${2:-0}" -ge 1 ]; then ok safe; else bad safe "$(tail -1 err)"; fi
if [ "${3:-0}" -ge 2 ]; then ok unescaped; else bad unescaped "$(tail -1 err)"; fi
counts=$*

# The assumption: a race at accesses that were not escaped in any run so far is missed. The report says so.
run -- ./log-full more
has found-without err "log.c:$(line ERRORS 1)" "log.c:$(line ERRORS 2)"
run --filter=s -- ./log-full more
same missed-status "$status" 66
lacks missed err "log.c:$(line ERRORS 2)"
has missed-said err "on the assumption that memory that has not escaped so far does not escape now"
# ... until Caper has seen it.
cp s known
"$deadheat" caper --quiet --state=known -- ./log-caper more
run --filter=known -- ./log-full more
has learnt err "log.c:$(line ERRORS 1)" "log.c:$(line ERRORS 2)"

# In JSON: the counters.
run --filter=s --output=races.jsonl -- ./log-full
"$deadheat" report races.jsonl --format=json >json 2>/dev/null
same json "$(python3 -c 'import json
c = json.load(open("json"))["counters"]
print(c["FILTERABLE"], c["FILTERED_SAFE"], c["FILTERED_UNESCAPED"])')" "$counts"
"$deadheat" report races.jsonl >text 2>&1
same report "$(skipped text)" "$counts"

# Other processes: a child, the same program again, one below a shell; what is meant is known by its build.
for how in fork exec; do
    HOW=$how run --filter=s -- ./log-full
    same "$how-status" "$status" 66
    same "$how" "$(skipped err)" "$counts"
done
run --filter=s --filter-program=./log-full -- sh -c './log-full'
same below "$status:$(skipped err)" "66:$counts"
"$deadheat" cc -g -O1 -pthread log.c -o log-plain
run --filter=s --filter-program=./log-full -- ./log-plain more
has other-program err "log.c:$(line ERRORS 2)"
lacks other-program-silent err filter

# Other detectors see what is checked; a recording has what is checked.
run --filter=s --detector=djit -- ./log-full more
same detector "$status:$(skipped err)" "66:$counts"
lacks detector-missed err "log.c:$(line ERRORS 2)"
"$deadheat" record --quiet --filter=s -o t.dht -- ./log-full more 2>err
has recording err "accesses are missing from the recording: of ${counts%% *} checks"
"$deadheat" analyze --detector=fasttrack t.dht >out 2>&1
has analyzed out "log.c:$(line LINES 2)"
lacks analyzed-missed out "log.c:$(line ERRORS 2)"
run --filter=s --sample=100% -- ./log-full
same sampled "$status:$(skipped err)" "66:$counts"

# Nothing raced: silence is not the silence of a full run.
printf 'race:log.c\n' >all.txt
cat >calm.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static int *shared;
static void *reader(void *arg)
{
    (void)arg;
    return (void *)(long)*shared;
}
int main(void)
{
    pthread_t t;
    int *p = malloc(sizeof(*p));
    *p = 1;
    shared = p;
    pthread_create(&t, 0, reader, 0);
    pthread_join(t, 0);
    return 0;
}
END
caper calm.c -o calm-caper
full calm.c -o calm-full
"$deadheat" caper --quiet --state=calm -- ./calm-caper
run --filter=calm -- ./calm-full
same calm-status "$status" 0
has calm err "no data race was found by the remaining checks: of "
run --filter=s --suppressions=all.txt -- ./log-full
same suppressed "$status:$(skipped err)" "0:$counts"

# By itself the program does what it does; what the environment says is not believed if it does not fit.
./log-full >out 2>err
same alone "$?" 66
lacks alone-words err filter
id=$(printf '%040d' 0)
DEADHEAT_FILTER=1:$id:1:0:1:1 ./log-full more >out 2>err
lacks another-id err DEADHEAT_FILTER
has another-id-race err "log.c:$(line ERRORS 2)"
id=$(readelf -n log-full | sed -n 's/.*Build ID: //p')
id=$id$(printf '%0*d' $((40 - ${#id})) 0)
for text in "" 1 "2:$id:1:0:1:1" "1:$id" "1:$id:1:0:1:1" "1:$id:${counts%% *}:0:0:" "1:$id:${counts%% *}:0:0:!!!!!!!!!!!!" \
    "1:$id:99999999999:0:0:1" "1:${id}0:1:0:1:1"; do
    DEADHEAT_FILTER=$text ./log-full more >out 2>err
    [ $? -eq 66 ] && grep -q "DEADHEAT_FILTER is ignored, and every check is made" err &&
        grep -q "log.c:$(line ERRORS 2)" err || bad "damaged '$text'" "$(head -3 err)"
done
ok damaged

# The variable alone does it; but not in a program that has more rights than its user.
text=$("$deadheat" run --force --filter=s --filter-program=./log-full -- sh -c 'echo "$DEADHEAT_FILTER"')
DEADHEAT_FILTER=$text ./log-full more >out 2>err
same variable "$(skipped err)" "$counts"
printf '#include <sys/auxv.h>\nint main(void) { return (int)getauxval(AT_SECURE); }\n' >secure.c
clang-19 secure.c -o secure
cp calm-full calm-secure
chmod 755 . && chmod u+s secure calm-secure
text=$("$deadheat" run --force --filter=calm --filter-program=./calm-full -- sh -c 'echo "$DEADHEAT_FILTER"')
DEADHEAT_FILTER=$text ./calm-full 2>err
has variable-calm err "the remaining checks"
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null || as_nobody ./secure; then
    skip secure "a set-user-id program cannot be made here"
else
    DEADHEAT_FILTER=$text as_nobody ./calm-secure >out 2>err
    lacks secure err filter
fi

# What does not fit is refused, and the program is not run.
refused() { # NAME WORDS
    same "$1" "$status:$(cat out)" "2:"
    has "$1-words" err "$2"
}
run --filter=s -- ./log-plain
refused no-flag "'./log-plain' has no checks that can be switched off: build it with 'deadheat cc --dh-filterable'"
run --filter=s -- ./log-caper
same caper-build "$status" 2
run --filter=none -- ./log-full
refused no-state "there is no state 'none'"
head -c 60 s >cut
run --filter=cut -- ./log-full
refused truncated "cannot use the state 'cut'"
: >empty
run --filter=empty -- ./log-full
refused empty "cannot use the state 'empty'"
run --filter=calm -- ./log-full
refused other-program-state "in common with"
sed 's/log->errors = 0/log->errors = 1/' log.c >changed && cp log.c kept && mv changed log.c
full log.c -o log-changed
cp kept log.c
run --filter=s -- ./log-changed
refused other-sources "were compiled from different versions of 'log.c'"
cp log-caper log-caper-kept
caper -O2 log.c -o log-caper
run --filter=s -- ./log-full
refused rebuilt "run 'deadheat caper --migrate' on it first"
rm log-caper
run --filter=s -- ./log-full
refused gone "cannot be read: No such file or directory"
mv log-caper-kept log-caper
run --filter-program=./log-full -- ./log-full
refused program-only "give --filter=STATE, too"
for flag in --dh-exceptions --dh-mode=caper --dh-frontend=gcc; do
    "$deadheat" cc --dh-filterable $flag -c log.c -o log.o 2>err
    same "cc $flag" "$?" 2
done

# A program of C++, stripped, with sections collected; and with --dh-prune, which leaves nothing for sure to be skipped.
cp log.c log.cpp && sed -i 's/struct log \*log = malloc(sizeof(\*log))/struct log *log = new struct log/; s/free(log)/delete log/' log.cpp
"$deadheat" c++ --dh-mode=caper -g -O2 -pthread log.cpp -o cpp-caper >log 2>&1 || bad build-cpp-caper "$(cat log)"
"$deadheat" c++ --dh-filterable -g -O2 -pthread -ffunction-sections -Wl,--gc-sections log.cpp -o cpp-full >log 2>&1 || bad build-cpp "$(cat log)"
strip -o cpp-stripped cpp-full
"$deadheat" caper --quiet --state=cpp -- ./cpp-caper
run --filter=cpp -- ./cpp-stripped
# shellcheck disable=SC2046
set -- $(skipped err)
same cpp-status "$status" 66
if [ "${3:-0}" -ge 1 ]; then ok cpp; else bad cpp "$(tail -1 err)"; fi
full --dh-prune=quiet log.c -o log-pruned
run --filter=s -- ./log-pruned
# shellcheck disable=SC2046
set -- $(skipped err)
same pruned "$status:${2:-}" "66:0"
if [ "${3:-0}" -ge 2 ]; then ok pruned-unescaped; else bad pruned-unescaped "$(tail -1 err)"; fi

# A loop that counts by twos has its check in front of it, as in any other build, though no loop is assumed to end.
cat >twos.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static double sum(const double *v, size_t n)
{
    double all = 0;
    for (size_t i = 1; i < n; i += 2)
        all += v[i];
    return all;
}
static double *shared;
static size_t count;
static void *work(void *arg)
{
    return sum(shared, count) > 0 ? arg : NULL;
}
int main(int argc, char **argv)
{
    pthread_t t;
    count = (size_t)argc * 1000;
    shared = calloc(count, sizeof(*shared));
    pthread_create(&t, NULL, work, argv);
    shared[argc] = sum(shared, count);
    pthread_join(t, NULL);
    return 0;
}
END
"$deadheat" cc -g -O2 -pthread twos.c -o twos-usual >log 2>&1 || bad twos "$(cat log)"
"$deadheat" cc --dh-filterable -g -O2 -pthread twos.c -o twos >log 2>&1 || bad twos "$(cat log)"
strided() { objdump -d --no-show-raw-insn "$1" | grep -c 'call.*<__dh_read_stride>'; }
if [ "$(strided twos)" -ge 1 ] && [ "$(strided twos-usual)" -ge 1 ]; then ok twos; else bad twos "$(strided twos) strided checks"; fi

exit $failed
