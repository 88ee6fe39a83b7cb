// What pthread_atfork registers runs in whatever thread calls fork, later.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
int x;

static void pre(void)
{
    x++; // RACE a
}

static void *f(void *a)
{
    pid_t p = fork();
    if (p == 0)
        _exit(0);
    waitpid(p, 0, 0);
    return a;
}

int main(void)
{
    pthread_atfork(pre, 0, 0);
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    x = 2; // RACE a
    pthread_join(t, 0);
    return 0;
}
