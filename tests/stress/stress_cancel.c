/*
 * stress_cancel.c - threads cancelled in every kind of wait.
 *
 * Checks: clean-up handlers run with the mutex held, TSD destructors run, and all of it happens before the
 * return of join (the data is read without a lock then).
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "stress.h"

enum { ROUNDS = 300, KINDS = 7, BYTES = 1 << 16 };

struct victim {
    int kind;
    sem_t ready, never;
    pthread_mutex_t m;
    pthread_cond_t c;
    int pipe[2];
    int cleaned, destroyed; /* by the victim; by the main thread after join */
    int inside;             /* under m */
};

static pthread_key_t key;
static volatile char bytes[BYTES]; /* by the victim; by the main thread after join */

static void destroy(void *arg)
{
    struct victim *v = arg;
    v->destroyed++;
}

static void clean(void *arg)
{
    struct victim *v = arg;
    v->cleaned++;
}

static void clean_locked(void *arg)
{
    struct victim *v = arg;
    v->inside--; /* m is held again */
    pthread_mutex_unlock(&v->m);
}

static void wait_cond(struct victim *v)
{
    pthread_mutex_lock(&v->m);
    pthread_cleanup_push(clean_locked, v);
    v->inside++;
    sem_post(&v->ready);
    for (;;)
        pthread_cond_wait(&v->c, &v->m);
    pthread_cleanup_pop(0);
}

static void *forever(void *arg)
{
    pause();
    return arg;
}

static void *run(void *arg)
{
    struct victim *v = arg;
    char byte;
    int type;
    pthread_setspecific(key, v);
    pthread_cleanup_push(clean, v);
    if (v->kind != 0)
        sem_post(&v->ready);
    switch (v->kind) {
    case 0:
        wait_cond(v);
        break;
    case 1:
        sem_wait(&v->never);
        break;
    case 2:
        (void)!read(v->pipe[0], &byte, 1);
        break;
    case 3:
        pause();
        break;
    case 4:
        for (;;)
            pthread_testcancel();
        break;
    case 5:
        pthread_exit(PTHREAD_CANCELED);
    case 6: /* cancelled in the middle of plain code, and so, perhaps, inside the runtime */
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
        for (unsigned j = 0;; j += 61)
            bytes[j % BYTES]++;
    }
    pthread_cleanup_pop(1);
    return NULL;
}

/* A thread cancelled in join has not joined: somebody else can. */
static void *join_it(void *arg)
{
    pthread_t *th = arg;
    pthread_join(*th, NULL);
    return NULL;
}

static void cancelled_join(void)
{
    pthread_t inner, outer;
    void *ret;
    CHECK(pthread_create(&inner, NULL, forever, NULL) == 0);
    CHECK(pthread_create(&outer, NULL, join_it, &inner) == 0);
    CHECK(pthread_cancel(outer) == 0);
    CHECK(pthread_join(outer, &ret) == 0 && ret == PTHREAD_CANCELED);
    CHECK(pthread_cancel(inner) == 0);
    CHECK(pthread_join(inner, &ret) == 0 && ret == PTHREAD_CANCELED);
}

int main(void)
{
    CHECK(pthread_key_create(&key, destroy) == 0);
    for (int i = 0; i < ROUNDS * KINDS; i++) {
        struct victim v = {.kind = i % KINDS};
        pthread_t th;
        void *ret;
        CHECK(sem_init(&v.ready, 0, 0) == 0 && sem_init(&v.never, 0, 0) == 0);
        CHECK(pthread_mutex_init(&v.m, NULL) == 0 && pthread_cond_init(&v.c, NULL) == 0);
        CHECK(pipe(v.pipe) == 0);
        CHECK(pthread_create(&th, NULL, run, &v) == 0);
        while (sem_wait(&v.ready) != 0)
            ;
        if (v.kind != 5)
            CHECK(pthread_cancel(th) == 0);
        CHECK(pthread_join(th, &ret) == 0);
        CHECK(ret == PTHREAD_CANCELED);
        bytes[(unsigned)i % BYTES]++;
        CHECK(v.cleaned == 1 && v.destroyed == 1 && v.inside == 0);
        CHECK(pthread_mutex_trylock(&v.m) == 0 && pthread_mutex_unlock(&v.m) == 0);
        CHECK(pthread_mutex_destroy(&v.m) == 0 && pthread_cond_destroy(&v.c) == 0);
        sem_destroy(&v.ready);
        sem_destroy(&v.never);
        close(v.pipe[0]);
        close(v.pipe[1]);
    }
    for (int i = 0; i < ROUNDS; i++)
        cancelled_join();
    puts("OK");
    return 0;
}
