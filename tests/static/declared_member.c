// Two structures go through one table of pointers to anything, and are told apart by the member that a pointer to one of
// them is read from, though no variable holds it.
// FLAGS -O2 -fno-strict-aliasing
#include <pthread.h>
#include <stdlib.h>

struct job {
    long id, state, result, tries;
};
struct log {
    long size, lines, last, first, level;
};
struct worker {
    long number;
    struct job *job;
};

static void *all[2];

__attribute__((noinline)) static void give(struct worker *w, int i)
{
    w->job = all[i & 1]; // NO PAIR
}

static void *thread(void *arg)
{
    struct worker *w = arg;
    w->job->result = 1; // PAIR a
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    struct worker *w = malloc(sizeof *w);
    struct job *job = malloc(sizeof *job);
    struct log *log = malloc(sizeof *log);
    if (!w || !job || !log)
        abort();
    all[0] = job;
    all[1] = log;
    give(w, argc);
    pthread_create(&t, NULL, thread, w);
    job->result = 2; // PAIR a
    log->last = 2;   // NO PAIR
    return 0;
}
