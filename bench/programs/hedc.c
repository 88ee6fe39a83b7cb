/*
 * hedc.c - a search over many archives: main gives a pool of threads one task an archive, then cancels the
 * first.
 *
 * FastTrack paper, table 1 (24937 lines, 6 threads): Eraser 2 (one of them false, and two real ones missed),
 * MultiRace 1, Goldilocks 0, BasicVC 3, Djit+ 3, FastTrack 3. Their Goldilocks missed three by an unsound
 * shortcut for data of one thread; by its definition it is precise, so 3 is expected here.
 *
 * Real: `task_thread`, where a task writes who runs it and main, cancelling, takes that away, without a lock;
 * `deadline` and `language`, which main sets after it has handed out the tasks that read them.
 *
 * Detectors: Eraser takes a variable that one thread writes and others then read for read-shared, and does
 * not see that the reads need not come after: it misses `deadline` and `language`, and so does MultiRace,
 * which has its states. The hybrids find all three.
 *
 * False, Eraser only: `hits`, cleared by main before the pool is made, written by the tasks, read after
 * joining.
 */
// ARGS: 4 1
// FLAGS: -Wall -Wextra -Werror
// OUTPUT: hedc: 494 hits in 64 archives
#include "program.h"

#include <string.h>

enum { ARCHIVES = 64, WORDS = 4000, LANGUAGES = 3, NOBODY = -1 };

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pool_filled = PTHREAD_COND_INITIALIZER;
static int ready, next_task; /* pool_lock */

static long task_thread[ARCHIVES];
static long deadline; /* how many words an archive is given */
static int language;
static long hits[ARCHIVES];

/* Waits until there are tasks; -1 when all are taken. */
static int get_task(void)
{
    int task;

    pthread_mutex_lock(&pool_lock);
    while (!ready)
        pthread_cond_wait(&pool_filled, &pool_lock);
    task = next_task < ready ? next_task++ : -1;
    pthread_mutex_unlock(&pool_lock);
    return task;
}

/* An archive is a stream of words of three letters; the query is one of them. */
static long search_archive(int archive, long words, const char *query)
{
    uint64_t state = (uint64_t)archive;
    long found = 0;

    for (long i = 0; i < words; i++) {
        uint32_t r = next_random(&state);
        char word[4] = {(char)('a' + (r & 7)), (char)('a' + (r >> 3 & 7)), (char)('a' + (r >> 6 & 7)), 0};

        found += strcmp(word, query) == 0;
    }
    return found;
}

static void run_task(int me, int task)
{
    static const char *const queries[LANGUAGES] = {"abc", "fed", "hah"};
    long words;
    int query;

    task_thread[task] = me; // RACE a:write
    after(1);
    words = deadline; // RACE b:read
    query = language; // RACE c:read
    if (task == 0) {
        mark();
        after(3);
    }
    hits[task] = search_archive(task, words, queries[query]);
}

THREAD(worker)
{
    int task;

    while ((task = get_task()) >= 0)
        run_task(ME, task);
    return NULL;
}

/* Three marks: the settings are there; the first task has read them; it has been cancelled. */
static void serve(void)
{
    pthread_mutex_lock(&pool_lock);
    ready = ARCHIVES;
    pthread_cond_broadcast(&pool_filled);
    pthread_mutex_unlock(&pool_lock);
    deadline = (long)WORDS * scale; // RACE b:write
    language = 1;                   // RACE c:write
    mark();
    after(2);
    task_thread[0] = NOBODY; // RACE a:write
    mark();
}

int main(int argc, char **argv)
{
    pthread_t pool[MAX_THREADS];
    long found = 0;

    arguments(argc, argv);
    for (int i = 0; i < ARCHIVES; i++) {
        task_thread[i] = NOBODY;
        hits[i] = 0;
    }
    for (int i = 0; i < threads; i++)
        pool[i] = spawn(worker, (void *)(intptr_t)i);
    serve();
    for (int i = 0; i < threads; i++)
        join(pool[i]);
    for (int i = 0; i < ARCHIVES; i++) {
        MUST((task_thread[i] == NOBODY) == (i == 0));
        found += hits[i];
    }
    printf("hedc: %ld hits in %d archives\n", found, ARCHIVES);
    return 0;
}
