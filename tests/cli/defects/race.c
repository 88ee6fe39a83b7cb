/*
 * race.c - one race between two threads, or none, for what is said around it. Both orders of the two accesses
 * are the same race.
 */
#include <deadheat/deadheat.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int x;

static void *work(void *arg)
{
    (void)arg;
    x++;
    return NULL;
}

DH_UNTRACKED static void say_handled(int sig)
{
    (void)sig;
    puts("handled");
    fflush(stdout);
    _exit(3);
}

int main(int argc, char **argv)
{
    pthread_t a, b;
    signal(SIGABRT, say_handled);
    signal(SIGILL, say_handled);
    pthread_create(&a, NULL, work, NULL);
    if (argc < 2 || strcmp(argv[1], "race") != 0)
        pthread_join(a, NULL);
    pthread_create(&b, NULL, work, NULL);
    if (argc > 1 && strcmp(argv[1], "race") == 0)
        pthread_join(a, NULL);
    pthread_join(b, NULL);
    if (argc > 2 && fork() > 0)
        wait(NULL); /* whoever reads the output file when we have ended finds both of us in it */
    return 0;
}
