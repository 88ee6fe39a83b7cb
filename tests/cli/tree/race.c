/*
 * race.c - races on NAME or on `later`, or on nothing, as its arguments say one after another; and does what a process in
 * a tree of processes may do.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int NAME, later;

#ifdef SUPPRESSED
const char *__tsan_default_suppressions(void)
{
    return "race:" SUPPRESSED;
}
#endif
#ifdef FORGIVES
int __tsan_on_finalize(int failed)
{
    (void)failed;
    return 0;
}
#endif

static void *named(void *arg)
{
    NAME = 2;
    return arg;
}

static void *other(void *arg)
{
    later = 2;
    return arg;
}

static void race(void)
{
    pthread_t t;
    pthread_create(&t, NULL, named, NULL);
    NAME = 1;
    pthread_join(t, NULL);
}

static void race_later(void)
{
    pthread_t t;
    pthread_create(&t, NULL, other, NULL);
    later = 1;
    pthread_join(t, NULL);
}

static int run(int argc, char **argv, int i)
{
    for (; i < argc; i++) {
        if (strcmp(argv[i], "race") == 0)
            race();
        else if (strcmp(argv[i], "later") == 0)
            race_later();
        else if (strcmp(argv[i], "kill") == 0)
            raise(SIGKILL);
        else if (strcmp(argv[i], "setsid") == 0)
            setsid();
        else if (strncmp(argv[i], "read=", 5) == 0)
            fclose(fopen(argv[i] + 5, "r")); /* a pipe: waits for a writer */
        else if (strncmp(argv[i], "write=", 6) == 0)
            fclose(fopen(argv[i] + 6, "w"));
        else if (strncmp(argv[i], "exit=", 5) == 0)
            return atoi(argv[i] + 5);
        else if (strcmp(argv[i], "exec") == 0)
            execv(argv[0], (char *[]){argv[0], NULL});
        else if (strcmp(argv[i], "fork") == 0 || strcmp(argv[i], "vfork") == 0) {
            /* The child does the rest, or becomes a program that does it. */
            pid_t pid = argv[i][0] == 'f' ? fork() : vfork();
            if (pid == 0 && argv[i][0] == 'v')
                execv(argv[0], argv + i);
            if (pid == 0)
                continue;
            waitpid(pid, NULL, 0);
            return 0;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    return run(argc, argv, 1);
}
