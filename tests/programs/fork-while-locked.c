// fork while other threads allocate and lock all the time: the child must not hang on a lock nobody holds.
// TSAN: it forbids threads in the child of a threaded program
// NO RACE
#include <sys/wait.h>
#include <unistd.h>

#include "invisible.h"

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
_Atomic int stop;
long count;

THREAD(busy)
{
    while (!stop) {
        void *volatile p = malloc(100);

        pthread_mutex_lock(&m);
        count++;
        pthread_mutex_unlock(&m);
        free(p);
    }
    return NULL;
}

THREAD(child_work)
{
    void *volatile p = malloc(100);

    free(p);
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(busy, NULL), b = spawn(busy, NULL);

    for (int i = 0; i < 20; i++) {
        int status;
        pid_t pid = fork();

        MUST(pid >= 0);
        if (pid == 0) {
            join(spawn(child_work, NULL));
            _exit(0);
        }
        MUST(waitpid(pid, &status, 0) == pid && status == 0);
    }
    stop = 1;
    join(a);
    join(b);
    return 0;
}
