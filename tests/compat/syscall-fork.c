// A program that makes the system call of fork by itself says so: the child finds no lock of the runtime's taken by a thread that
// it does not have.
// NO RACE
#include <sys/wait.h>
#include <unistd.h>

#include "../programs/invisible.h"

void __sanitizer_syscall_pre_impl_fork(void);
void __sanitizer_syscall_post_impl_fork(long res);

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
_Atomic int stop, turns;

THREAD(busy)
{
    while (!stop) {
        pthread_mutex_lock(&m);
        turns++;
        pthread_mutex_unlock(&m);
    }
    return NULL;
}

static long fork_by_hand(void)
{
    long rc;

    __sanitizer_syscall_pre_impl_fork();
    __asm__ volatile("syscall" : "=a"(rc) : "0"(57L /* fork */) : "rcx", "r11", "memory");
    __sanitizer_syscall_post_impl_fork(rc);
    return rc;
}

int main(void)
{
    pthread_t a = spawn(busy, NULL), b = spawn(busy, NULL);

    for (int i = 0; i < 100; i++) {
        long pid = fork_by_hand();
        int status;

        MUST(pid >= 0);
        if (pid == 0) {
            turns++;
            if (pthread_mutex_trylock(&m) == 0)
                pthread_mutex_unlock(&m);
            _exit(7);
        }
        MUST(waitpid((pid_t)pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    stop = 1;
    join(a);
    join(b);
    return 0;
}
