/*
 * clean.c - what a program can see of being chased: its environment, descriptors, threads and signal mask, here and in what
 * it runs: clean prints them, and once more after exec.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;
volatile int x; // so that there is something to name

static int entries(const char *path)
{
    int n = 0;
    DIR *dir = opendir(path);
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n - 2;
}

int main(int argc, char **argv)
{
    sigset_t mask;
    x++; // FIRST
    for (char **e = environ; *e; e++)
        if (strncmp(*e, "LD_PRELOAD", 10) == 0 || strncmp(*e, "DEADHEAT", 8) == 0 ||
            strncmp(*e, "KEPT", 4) == 0)
            puts(*e);
    sigprocmask(SIG_BLOCK, NULL, &mask);
    printf("descriptors %d threads %d masked %d\n", entries("/proc/self/fd") - 1, entries("/proc/self/task"),
           sigismember(&mask, SIGTRAP));
    fflush(stdout);
    if (argc < 2)
        execl(argv[0], argv[0], "again", (char *)NULL);
    return 5;
}
