#!/bin/sh
# clock.sh DEADHEAT PROGRAM - a hive on a machine whose clock is set back by an hour. Users who had just used up their rate are
# served again after a moment, not after an hour; and a poll ends although the clock does not come to its end.
set -u
deadheat=$1
mkdir clock && cd clock || exit 1

cat >set.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *t)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int rc = real(id, t);
    static int calls;
    if (rc == 0 && id == CLOCK_REALTIME && access("back", F_OK) == 0)
        t->tv_sec -= 3600;
    if (rc == 0 && id == CLOCK_REALTIME && access("backwards", F_OK) == 0)
        t->tv_sec -= 10 * __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    return rc;
}
C
clang-19 -shared -fPIC set.c -o set.so -ldl || { echo "FAIL hive/clock: set.c"; exit 1; }
key=$("$deadheat" hive add --db=hive.db --program=prog "$2" | sed -n 's/.*shown once: //p')
LD_PRELOAD=$PWD/set.so "$deadheat" hive serve --db=hive.db --rate=5 --listen=127.0.0.1:0 >serving 2>&1 &
pid=$!
until grep -qs serving serving; do sleep 0.1; done
url=$(sed -n 's/.*serving on //p' serving)
ask() {
    curl -s -o /dev/null -w '%{http_code}\n' -m 10 -H "Authorization: Bearer $key" -H "X-Deadheat-User: $(printf %032d 1)" -d '{"build": "00000000"}' \
        "$url/v1/poll"
}
until_answer() { # CODE: false if it does not come
    for _ in $(seq 300); do
        [ "$(ask)" = "$1" ] && return 0
        [ "$1" = 429 ] || sleep 0.1
    done
    return 1
}
if until_answer 429; then
    touch back
    until_answer 404 && echo "ok hive/clock-set-back" || echo "FAIL hive/clock-set-back: still refused"
else
    echo "FAIL hive/clock-set-back: no limit: $(head -1 serving)"
fi
touch backwards
build=$(readelf -n "$2" | sed -n 's/.*Build ID: //p')
got=$(curl -s -o answer -w '%{http_code}\n' -m 30 -H "Authorization: Bearer $key" -H "X-Deadheat-User: $(printf %032d 2)" \
    -d "{\"build\": \"$build\", \"since\": 1000000, \"wait_s\": 1}" "$url/v1/poll")
[ "$got" = 200 ] && echo "ok hive/clock-backwards" || echo "FAIL hive/clock-backwards: $got $(cat answer 2>&1)"
kill $pid && wait $pid
