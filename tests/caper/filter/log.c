/*
 * log.c - a structure that is filled in before others can reach it, and two races: one in every run, one only if there is
 * an argument. One variable has one user only.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct log {
    int lines, errors;
};
static struct log *shared;
static pthread_barrier_t published;
static volatile int own;

static void *reader(void *arg)
{
    pthread_barrier_wait(&published);
    long sum = shared->lines; /* LINES */
    if (arg)
        sum += shared->errors; /* ERRORS */
    return (void *)sum;
}

static void watch(int argc, void *arg)
{
    pthread_t t;
    pthread_barrier_init(&published, NULL, 2);
    pthread_create(&t, NULL, reader, arg);
    struct log *log = malloc(sizeof(*log));
    log->lines = argc;
    log->errors = 0;
    own = argc; /* nobody else uses it */
    shared = log;
    pthread_barrier_wait(&published);
    log->lines++; /* LINES */
    if (arg)
        log->errors++; /* ERRORS */
    pthread_join(t, NULL);
    free(log);
}

int main(int argc, char **argv)
{
    const char *how = getenv("HOW");
    if (how && *how == 'f' && fork() > 0) { /* the child does it */
        int status;
        wait(&status);
        return WEXITSTATUS(status);
    }
    if (how && *how == 'e') { /* the same program, again */
        unsetenv("HOW");
        execv(argv[0], argv);
        return 1;
    }
    watch(argc, argc > 1 ? argv : NULL);
    return own == argc ? 0 : 3;
}
