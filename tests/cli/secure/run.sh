#!/bin/sh
# run.sh DEADHEAT - programs with more rights than whoever starts them: nothing in the environment is heeded, nothing is
# written but to standard error, and no reporter is run. It takes root to make one.
. "$(dirname "$0")/../lib.sh"

if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
    skip all "only root can make a set-user-id program"
    exit 0
fi
cd "$work" || exit 1
cat >race.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>
int x;
static void *body(void *arg)
{
    x = 2;
    return arg;
}
#ifdef DEFAULTS
const char *__tsan_default_options(void) { return "suppressions=/etc/shadow exitcode=77"; }
#endif
int main(int argc, char **argv)
{
    pthread_t t;
    (void)argv;
    printf("secure %lu\n", getauxval(AT_SECURE));
    printf("options %s\n", getenv("DEADHEAT_OPTIONS") ? getenv("DEADHEAT_OPTIONS") : "none");
    printf("run %s\n", getenv("DEADHEAT_RUN") ? getenv("DEADHEAT_RUN") : "none");
    fflush(stdout);
    pthread_create(&t, NULL, body, NULL);
    if (argc < 2)
        x = 1;
    pthread_join(t, NULL);
    return 0;
}
END
"$deadheat" cc -g race.c -o race -pthread && "$deadheat" cc -DDEFAULTS -g race.c -o defaults -pthread ||
    { bad compile "deadheat cc failed"; exit 1; }
chmod 755 . && chmod u+s race defaults
mkdir open && chmod 777 open
printf '#!/bin/sh\nid -u >%s/open/ran\n' "$work" >evil
chmod 755 evil

as_nobody() { # PROGRAM, with OPTIONS in the environment: sets status, fills out and err
    DEADHEAT_OPTIONS=$OPTIONS setpriv --reuid=65534 --regid=65534 --clear-groups "$@" >out 2>err
    status=$?
}

OPTIONS=
as_nobody ./race
if ! grep -q '^secure 1' out; then
    skip all "set-user-id has no effect here"
    exit 0
fi
OPTIONS=help=1
as_nobody ./race
same options-unheard "$status" 66
has options-gone out "options none"
has options-said err "DEADHEAT_OPTIONS is ignored"

OPTIONS=reporter=$work/evil
as_nobody ./race
OPTIONS=output=$work/open/records
as_nobody ./race
same neither-run-nor-written "$(ls open)" ""

# Nor is anything sent to an address that the environment names: the one who started it may be listening there.
cat >listen.c <<'END'
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char address[33];
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    snprintf(address, sizeof(address), "5ec0de5ec0de5ec0de5ec0%010x", (unsigned)getpid()); /* nobody else's */
    int n = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "deadheat-%s", address);
    if (argc < 2 || bind(fd, (void *)&name, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) ||
        listen(fd, 100))
        return 99;
    setenv("DEADHEAT_RUN", address, 1);
    int status = system(argv[1]);
    fprintf(stderr, "%s\n", accept(fd, NULL, NULL) >= 0 ? "connected" : "left alone");
    return status == -1 ? 98 : 0;
}
END
clang-19 -D_GNU_SOURCE listen.c -o listen && chmod 755 listen || bad compile "clang-19 failed"
OPTIONS=
as_nobody within 60 ./listen ./race
has address-unheard err "left alone"
has address-gone out "run none"
chmod u-s race
within 60 ./listen "./race clean" >out 2>err # whom it may hear it does
has address-heard err "connected"
chmod u+s race

# No reporter is run: not the one the program was compiled with, though it is root's, none beside the program, on the
# PATH or by DEADHEAT_HOME. A race is one line with offsets that addr2line understands, without control characters.
OPTIONS=
evil_name=$(printf 'ra\033[31mce')
mkdir lonely lonely/bin && cp evil lonely/deadheat && cp evil lonely/bin/deadheat && cp -p race "lonely/$evil_name" || bad copy "failed"
DEADHEAT_HOME=$work/lonely PATH=$work/lonely:$PATH as_nobody "lonely/$evil_name"
same no-reporter "$status:$(ls open)" 66:
has no-reporter-said err "the reporter (the deadheat program) is not run, because the program has other privileges" \
    "deadheat: data race: " "write at ra?[31mce+0x"
lacks no-reporter-silent err WARNING
same offsets "$(sed -n 's/.*data race: .*+\(0x[0-9a-f]*\), .*+\(0x[0-9a-f]*\)$/\1 \2/p' err | xargs addr2line -e race |
    sed 's/ .*//; s/.*://' | sort -n | tr '\n' ' ')" "9 25 "

# What the program itself brings counts, but for names of files.
as_nobody ./defaults
same own-options "$status" 77
lacks own-files err shadow

# Without raised rights all is as ever.
chmod u-s race
DEADHEAT_OPTIONS=exitcode=5:output=$work/mine ./race >out 2>err
same ordinary "$?" 5
has ordinary-output mine '"race"'
exit $failed
