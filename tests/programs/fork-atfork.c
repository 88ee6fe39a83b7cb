// Handlers of pthread_atfork, registered by one thread and called in another, that take all locks before a
// fork and give them back after it, in both processes; the threads of the child use what the locks guard.
// NO RACE
// TSAN: it knows neither pthread_atfork nor threads in a forked child
#include <sys/wait.h>
#include <unistd.h>

#include "invisible.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static long guarded, prepared;

static void take(void)
{
    MUST(prepared == 1);
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&n);
}

static void give_back(void)
{
    MUST(prepared == 1);
    pthread_mutex_unlock(&n);
    pthread_mutex_unlock(&m);
}

THREAD(registers)
{
    prepared = 1;
    MUST(pthread_atfork(take, give_back, give_back) == 0);
    mark();
    return NULL;
}

THREAD(worker)
{
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&m);
        guarded++;
        pthread_mutex_unlock(&m);
    }
    return NULL;
}

int main(void)
{
    pthread_t t = spawn(registers, NULL), w;
    int status;
    pid_t child;

    after(1);
    w = spawn(worker, NULL);
    child = fork();
    if (child == 0) {
        both(worker, worker);
        exit(guarded < 40);
    }
    MUST(waitpid(child, &status, 0) == child && status == 0);
    worker(NULL);
    join(t);
    join(w);
    MUST(guarded == 40);
    return 0;
}
