/*
 * stale_flag.c - a lost wake-up: a worker that finds nothing to do says that it is idle, and sleeps; who
 * brings a job wakes it only if it is idle. If the job is brought after the worker has looked for one and
 * before it has said that it is idle, nobody wakes it, and it sleeps for ever. (The shape of many hangs: a
 * condition is checked and announced in two steps.)
 *
 * The worker sleeps long before the job comes, or, if it was late, finds it there.
 */
#include "../program.h"

#include <semaphore.h>
#include <unistd.h>

static sem_t wake;
static volatile int idle;
static volatile int jobs;
static uint64_t job, result;

/* Both are volatile, in the belief that this is what makes them safe to share. */
static void wait_for_job(void)
{
    if (jobs == 0) {
        idle = 1; // DEFECT
        sem_wait(&wake);
    }
}

THREAD(worker)
{
    wait_for_job();
    result = churn(job, 1000);
    return NULL;
}

static void bring_job(uint64_t seed)
{
    job = seed;
    jobs = 1;
    if (idle) // DEFECT
        sem_post(&wake);
}

int main(void)
{
    pthread_t thread;

    sem_init(&wake, 0, 0);
    thread = spawn(worker, NULL);
    usleep(2000); /* nobody has asked for anything yet */
    bring_job(1);
    join(thread);
    MUST(result == churn(job, 1000));
    puts("stale_flag: 1 job");
    return 0;
}
