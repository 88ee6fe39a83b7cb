// Copies of the process that are made past libc's fork, by clone and by bare system calls, while other threads lock all the time:
// the child must not hang on a lock of a thread that it does not have, and what it does in turn is judged like the rest.
// TSAN: its child hangs on a lock that nobody holds
// NO RACE
#define _GNU_SOURCE 1
#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "invisible.h"

enum { ROUNDS = 40, STACK = 256 << 10 };

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
_Atomic int stop, turns;
long count;
static char stack[STACK] __attribute__((aligned(16)));

THREAD(busy)
{
    while (!stop) {
        pthread_mutex_lock(&m);
        count++;
        pthread_mutex_unlock(&m);
        turns++;
    }
    return NULL;
}

static int child(void *arg)
{
    (void)arg;
    for (int i = 0; i < 10; i++) {
        turns++;
        /* The mutex may be a thread's that is not here. */
        if (pthread_mutex_trylock(&m) == 0)
            pthread_mutex_unlock(&m);
    }
    return 7;
}

static void reap(pid_t pid)
{
    int status;

    MUST(pid > 0);
    MUST(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* What syscall(2) returns in the child is 0. */
static void split(long pid)
{
    if (pid == 0)
        _exit(child(NULL));
    reap((pid_t)pid);
}

int main(void)
{
    pthread_t a = spawn(busy, NULL), b = spawn(busy, NULL);

    for (int i = 0; i < ROUNDS; i++) {
        struct clone_args args = {.exit_signal = SIGCHLD};

        reap(clone(child, stack + STACK, SIGCHLD, NULL));
        split(syscall(SYS_fork));
        split(syscall(SYS_vfork));
        split(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
        split(syscall(SYS_clone3, &args, sizeof(args)));
    }
    MUST(syscall(SYS_clone3, NULL, 64) == -1 && errno == EFAULT);
    MUST(clone(child, stack + STACK, CLONE_THREAD, NULL) == -1 && errno == EINVAL); /* it needs CLONE_VM */
    stop = 1;
    join(a);
    join(b);
    return 0;
}
