#!/bin/sh
# run.sh DEADHEAT - records of several processes in one file: each process has a number of its own, and its races and
# modules stay its own even where pids are equal, as in containers that share a volume.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit 1
cat >race.c <<'END'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
int NAME;
static void *body(void *arg)
{
    NAME = 2;
    return arg;
}
static void race(void)
{
    pthread_t t;
    pthread_create(&t, NULL, body, NULL);
    NAME = 1;
    pthread_join(t, NULL);
}
int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1 && fork() > 0) {
        wait(NULL);
        return 0;
    }
    race();
    return 0;
}
END
# getrandom is refused to the program that this one becomes.
cat >refused.c <<'END'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};
    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 99;
    execv(argv[1], argv + 1);
    return 98;
}
END
"$deadheat" cc -g -DNAME=apples race.c -o one -pthread && "$deadheat" cc -g -DNAME=pears race.c -o two -pthread &&
    clang-19 refused.c -o refused || { bad compile "a compiler failed"; exit 1; }

record() { # FILE PROGRAM...
    file=$1
    shift
    DEADHEAT_OPTIONS=report=0:output=$work/$file "$@" 2>>messages
}
ids() { sed 's/.*"process":"\([^"]*\)".*/\1/' "$@" | sort -u; } # FILE...

# ---- Every line has the number of its process ----
record one.jsonl ./one
record two.jsonl ./two
same one-number-a-process "$(ids one.jsonl | wc -l):$(ids two.jsonl | wc -l):$(ids one.jsonl two.jsonl | wc -l)" 1:1:2
same of-128-bits "$(ids one.jsonl two.jsonl | grep -c '^[0-9a-f]\{32\}$')" 2
same version "$(grep -c '^{"v":2,' one.jsonl)" "$(wc -l <one.jsonl)"
record forked.jsonl ./one fork
same forked-child "$(ids forked.jsonl | wc -l)" 2
if ./refused /bin/true; then
    for i in 1 2 3; do record refused.jsonl ./refused ./one fork; done
    same without-getrandom "$(ids refused.jsonl | grep -c '^[0-9a-f]\{32\}$')" 6
else
    skip without-getrandom "no filters for system calls here"
fi

# ---- One pid, one file ----
sed 's/"pid":[0-9]*/"pid":7/' one.jsonl >a.jsonl
sed 's/"pid":[0-9]*/"pid":7/' two.jsonl >b.jsonl
paste -d '\n' a.jsonl b.jsonl | grep . >mixed.jsonl
"$deadheat" report mixed.jsonl >out 2>err
same mixed-status "$?" 66
has mixed-both-races out 'data race on global `apples` (pid 7)' 'data race on global `pears` (pid 7)'
has mixed-own-modules out 'declared at race.c:4, in one' 'declared at race.c:4, in two'
same mixed-summary "$(tr '\n' '|' <err)" "deadheat: 2 data races|  one: 1 process raced|  two: 1 process raced|"
"$deadheat" report --format=json mixed.jsonl >out 2>err
same mixed-json "$(python3 - <<'END'
import json
report = json.load(open("out"))
programs = {p["id"]: p["exe"].split("/")[-1] for p in report["processes"]}
print(sorted((r["location"]["name"], programs[r["process"]], r["exe"].split("/")[-1]) for r in report["findings"]),
      report["summary"]["complete"])
END
)" "[('apples', 'one', 'one'), ('pears', 'two', 'two')] True"

# Really at the same time and with the same pid, where pid namespaces can be made.
if unshare -pf true 2>/dev/null; then
    record volume.jsonl unshare -pf ./one &
    record volume.jsonl unshare -pf ./two
    wait
    "$deadheat" report volume.jsonl >out 2>err
    has containers out '`apples` (pid 1)' '`pears` (pid 1)' 'in one' 'in two'
else
    skip containers "no pid namespaces here"
fi

# ---- The old format ----
sed 's/"v":2/"v":1/; s/"process":"[^"]*",//' one.jsonl >old.jsonl
"$deadheat" report old.jsonl >out 2>err
same version-1 "$?:$(cat err)" "66:deadheat: 1 data race"
cat one.jsonl old.jsonl two.jsonl >both.jsonl
"$deadheat" report both.jsonl >out 2>err
same both-versions "$?:$(head -1 err)" "66:deadheat: 2 data races (1 repetition)"
exit $failed
