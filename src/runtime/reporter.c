/*
 * reporter.c - see reporter.h.
 *
 * The reporter is `deadheat report --from-runtime` at the other end of a socket pair: records go one way, the
 * verdict (one line, "races N") comes back, since only symbolised stacks can be matched with suppressions.
 *
 * It must not show in the host's life. It is cloned with no exit signal, so the host gets no SIGCHLD for it and
 * its wait() never returns it; it keeps none of the host's descriptors but the standard ones; our end of
 * the socket is close-on-exec and numbered high, out of the way of programs that count on low numbers.
 */
#include "runtime/reporter.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "runtime/init.h"
#include "runtime/signal.h"

#define STACK_SIZE (64 << 10)
enum { HIGH_FD = 1000 };

/* Where deadheat is installed, as the compiler plugin that built the program saw it; absent in a program whose
 * instrumented parts are all shared libraries of another build. */
extern const char __dh_home[] __attribute__((weak));

static int sock = -1; /* all under DH_RANK_REPORT */
static int pid;

struct child {
    int sock;
    const char *path;
};

/* Runs on the parent's memory until exec: system calls only. */
static int child_main(void *arg)
{
    const struct child *c = arg;
    static const char *const argv[] = {"deadheat", "report", "--from-runtime", NULL};
    dh_sys3(SYS_dup2, c->sock, 0, 0);
    dh_sys3(SYS_close_range, 3, ~0u, 0);
    dh_signal_set_mask(0);
    dh_sys3(SYS_execve, (long)c->path, (long)argv, (long)environ);
    dh_sys3(SYS_exit, 127, 0, 0);
    return 0;
}

/* The program to run, into buf. */
static bool find(char *buf, size_t cap)
{
    static const char tail[] = "/../../bin/deadheat";
    if (dh_opts.reporter[0]) {
        strncpy(buf, dh_opts.reporter, cap - 1);
        buf[cap - 1] = '\0';
    } else if (__dh_home && strlen(__dh_home) + sizeof(tail) <= cap) {
        strcpy(buf, __dh_home);
        strcat(buf, tail);
    } else {
        return false;
    }
    return dh_sys3(SYS_access, (long)buf, X_OK, 0) == 0;
}

bool dh_reporter_start(void)
{
    char path[4096];
    int pair[2];
    if (sock >= 0)
        return true;
    if (!find(path, sizeof(path)))
        return false;
    if (dh_sys6(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, (long)pair, 0, 0) < 0)
        return false;
    char *stack = dh_sys_map(STACK_SIZE);
    struct child c = {.sock = pair[1], .path = path};
    u64 mask = dh_signal_block_all();
    pid = stack ? clone(child_main, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK, &c) : -1;
    dh_signal_set_mask(mask);
    if (stack)
        dh_sys_unmap(stack, STACK_SIZE);
    dh_sys3(SYS_close, pair[1], 0, 0);
    if (pid < 0) {
        dh_sys3(SYS_close, pair[0], 0, 0);
        return false;
    }
    long high = dh_sys3(SYS_fcntl, pair[0], F_DUPFD_CLOEXEC, HIGH_FD);
    sock = high >= 0 ? (int)high : pair[0];
    if (high >= 0)
        dh_sys3(SYS_close, pair[0], 0, 0);
    return true;
}

void dh_reporter_send(const char *line, size_t n)
{
    while (sock >= 0 && n > 0) {
        long r = dh_sys6(SYS_sendto, sock, (long)line, (long)n, MSG_NOSIGNAL, 0, 0);
        if (r == -EINTR)
            continue;
        if (r <= 0)
            return; /* it died; dh_reporter_finish will find no verdict */
        line += r;
        n -= (size_t)r;
    }
}

int64_t dh_reporter_finish(void)
{
    static const char word[] = "races ";
    char buf[64];
    size_t n = 0;
    if (sock < 0)
        return -1;
    dh_sys3(SYS_shutdown, sock, SHUT_WR, 0);
    while (n < sizeof(buf) - 1) {
        long r = dh_sys3(SYS_read, sock, (long)(buf + n), (long)(sizeof(buf) - 1 - n));
        if (r == -EINTR)
            continue;
        if (r <= 0)
            break;
        n += (size_t)r;
    }
    buf[n] = '\0';
    dh_sys3(SYS_close, sock, 0, 0);
    sock = -1;
    while (dh_sys6(SYS_wait4, pid, 0, __WCLONE, 0, 0, 0) == -EINTR)
        ;
    if (strncmp(buf, word, sizeof(word) - 1) != 0)
        return -1;
    int64_t count = 0;
    for (const char *p = buf + sizeof(word) - 1; *p >= '0' && *p <= '9'; p++)
        count = count * 10 + (*p - '0');
    return count;
}

void dh_reporter_forget(void)
{
    if (sock >= 0)
        dh_sys3(SYS_close, sock, 0, 0);
    sock = -1;
}
