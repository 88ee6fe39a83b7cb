/*
 * reporter.c - see reporter.h.
 *
 * The reporter is `deadheat report --from-runtime` at the other end of a socket pair: records go one way, the
 * verdict (one line, "races N") comes back, since only symbolised stacks can be matched with suppressions.
 *
 * It must be invisible to the host: no SIGCHLD, and wait() must never see it. A child cloned without an exit
 * signal is invisible to wait(), but exec restores the usual signal. So there is a nurse between the two: a
 * process that was cloned without an exit signal and never execs, shares the host's memory so that it costs
 * nothing, has none of the host's descriptors and signals, and only waits for the reporter. (A reporter that
 * is simply orphaned would become the host's child after all if the host is process 1.)
 *
 * Below `deadheat run` no process is started: that command is the reporter for everything it runs, and is
 * reached by gather.c. It may end before the host does, and then sends its verdict unasked.
 */
#include "runtime/report/reporter.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pool.h"
#include "base/sys.h"
#include "runtime/init.h"
#include "runtime/report/find.h"
#include "runtime/report/gather.h"
#include "runtime/report/keep.h"
#include "runtime/threads/signal.h"

enum { STACK_SIZE = 16 << 10, PATH_SIZE = 4096, FD_GUESS = 4096 };

/* The nurse's data, in memory of its own that stays until it ends. */
struct nurse {
    int sock;
    u32 ready; /* atomic: the reporter has started or failed to, and all descriptors are closed */
    char **env;
    char path[PATH_SIZE];
    char own_stack[STACK_SIZE] __attribute__((aligned(64)));
    char child_stack[STACK_SIZE] __attribute__((aligned(64)));
};

static int sock = -1;       /* all under DH_RANK_REPORT */
static struct nurse *nurse; /* NULL: the reporter is shared */
static int nurse_pid;
static bool lost; /* the reporter ended, or its socket was lost, before the program was done with it */

static void close_from(unsigned first)
{
    if (dh_sys3(SYS_close_range, first, ~0u, 0) == -ENOSYS)
        for (unsigned fd = first; fd < FD_GUESS; fd++)
            dh_sys3(SYS_close, fd, 0, 0);
}

static void set_mask(u64 mask)
{
    dh_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask), 0, 0);
}

/* Both run on the host's memory: system calls only. */
static int reporter_main(void *arg)
{
    const struct nurse *n = arg;
    static const char *const argv[] = {"deadheat", "report", "--from-runtime", NULL};
    dh_sys3(SYS_dup2, n->sock, 0, 0);
    close_from(3);
    set_mask(0);
    dh_sys3(SYS_execve, (long)n->path, (long)argv, (long)n->env);
    dh_sys3(SYS_exit, 127, 0, 0);
    return 0;
}

static int nurse_main(void *arg)
{
    struct nurse *n = arg;
    set_mask(~0ull); /* the host's handlers must not run here */
    clone(reporter_main, n->child_stack + STACK_SIZE, CLONE_VM | CLONE_VFORK, n);
    close_from(0);
    dh_sys3(SYS_chdir, (long)"/", 0, 0);
    __atomic_store_n(&n->ready, 1, __ATOMIC_RELEASE);
    while (dh_sys6(SYS_wait4, -1, 0, __WALL, 0, 0, 0) == -EINTR)
        ;
    dh_sys3(SYS_exit, 0, 0, 0);
    return 0;
}

/* The host's environment, but with the options as they were at its start, and without the libraries to
 * preload. *ret_n: entries allocated. */
static char **make_env(size_t *ret_n)
{
    static const char *const dropped[] = {"DEADHEAT_OPTIONS=", "LD_PRELOAD=", "LD_AUDIT="};
    size_t n = 0, used = 0;
    while (environ && environ[n])
        n++;
    *ret_n = n + 3;
    char **env = dh_pool_alloc(*ret_n * sizeof(*env));
    if (!env)
        return NULL;
    for (size_t i = 0; i < n && environ[i]; i++) {
        bool drop = false;
        for (size_t k = 0; k < DH_ARRAY_LEN(dropped); k++)
            drop |= strncmp(environ[i], dropped[k], strlen(dropped[k])) == 0;
        if (!drop)
            env[used++] = environ[i];
    }
    if (dh_suppressions_env)
        env[used++] = dh_suppressions_env;
    env[used] = dh_options_env;
    return env;
}

/* Until it is ready, or died before it could say so. */
static void wait_for_nurse(void)
{
    while (!__atomic_load_n(&nurse->ready, __ATOMIC_ACQUIRE) &&
           dh_sys6(SYS_wait4, nurse_pid, 0, __WCLONE | WNOHANG, 0, 0, 0) == 0)
        dh_sys_yield();
}

bool dh_reporter_is_running(void)
{
    return sock >= 0;
}

bool dh_reporter_is_shared(void)
{
    return sock >= 0 && !nurse;
}

bool dh_reporter_start(void)
{
    int pair[2];
    size_t env_n = 0;
    if (sock >= 0)
        return true;
    nurse = NULL;
    lost = false;
    int shared = dh_gather_connect();
    if (shared >= 0) {
        sock = dh_keep_fd(shared);
        return true;
    }
    nurse = dh_sys_map(sizeof(*nurse));
    if (!nurse)
        return false;
    if (!dh_find_reporter(nurse->path, sizeof(nurse->path)) || !(nurse->env = make_env(&env_n)))
        goto unmap;
    if (dh_sys6(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, (long)pair, 0, 0) < 0)
        goto env;
    nurse->sock = pair[1];
    int e = errno; /* the nurse shares it: it has our thread-local storage */
    u64 mask = dh_signal_block_all();
    nurse_pid = clone(nurse_main, nurse->own_stack + STACK_SIZE, CLONE_VM, nurse);
    if (nurse_pid > 0)
        wait_for_nurse();
    dh_signal_set_mask(mask);
    errno = e;
    dh_sys3(SYS_close, pair[1], 0, 0);
    if (nurse_pid < 0) {
        dh_sys3(SYS_close, pair[0], 0, 0);
        goto env;
    }
    dh_pool_free(nurse->env, env_n * sizeof(*nurse->env));
    sock = dh_keep_fd(pair[0]);
    return true;
env:
    dh_pool_free(nurse->env, env_n * sizeof(*nurse->env));
unmap:
    dh_sys_unmap(nurse, sizeof(*nurse));
    return false;
}

void dh_reporter_send(const char *line, size_t n)
{
    if (sock >= 0 && !lost && !dh_keep_intact(sock))
        lost = true;
    while (sock >= 0 && !lost && n > 0) {
        long r = dh_sys6(SYS_sendto, sock, (long)line, (long)n, MSG_NOSIGNAL, 0, 0);
        if (r == -EINTR)
            continue;
        if (r <= 0) {
            lost = true;
            return;
        }
        line += r;
        n -= (size_t)r;
    }
}

/* "races N", or -1. */
static int64_t read_verdict(void)
{
    static const char word[] = "races ";
    char buf[64];
    size_t n = 0;
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
    if (strncmp(buf, word, sizeof(word) - 1) != 0)
        return -1;
    int64_t count = 0;
    for (const char *p = buf + sizeof(word) - 1; *p >= '0' && *p <= '9'; p++)
        count = count * 10 + (*p - '0');
    return count;
}

/* The socket, and who is at its other end. */
static void drop_reporter(bool wait)
{
    dh_keep_close(sock);
    sock = -1;
    if (!nurse)
        return;
    while (wait && dh_sys6(SYS_wait4, nurse_pid, 0, __WCLONE, 0, 0, 0) == -EINTR)
        ;
    dh_sys_unmap(nurse, sizeof(*nurse));
}

bool dh_reporter_left(int64_t *ret_verdict)
{
    char c;
    if (!dh_reporter_is_shared() || !dh_keep_intact(sock) ||
        dh_sys6(SYS_recvfrom, sock, (long)&c, 1, MSG_PEEK | MSG_DONTWAIT, 0, 0) == -EAGAIN)
        return false;
    *ret_verdict = read_verdict();
    drop_reporter(false);
    return true;
}

int64_t dh_reporter_finish(void)
{
    if (sock < 0)
        return -1;
    /* Even if sending failed, a shared reporter may have sent a verdict. */
    int64_t verdict = (lost && nurse) || !dh_keep_intact(sock) ? -1 : read_verdict();
    drop_reporter(true);
    if (verdict < 0 && dh_opts.report)
        dh_sys_say(
            "data races were found, but the reporter ended before the program did, so they may not all be "
            "shown; save records with DEADHEAT_OPTIONS=output=FILE");
    return verdict;
}

void dh_reporter_forget(void)
{
    if (sock >= 0)
        drop_reporter(false);
}
