/*
 * fake.c - stands in for a Caper build: its table of pairs is real, as a field build has it; the sections of
 * a Caper build are added by sections.py. What it answers is what its arguments say.
 *
 *   NUMBER        the group of this number has touched escaped memory
 *   trouble=N     sets these bits
 *   exit=N        ends with this status
 *   kill=N        ends by this signal
 *   say=FILE      makes the file: what comes before it has been done
 *   wait=FILE     waits for the file to be there
 *   quiet         does not say that it has begun
 *   leave=FILE    goes on in another process, which keeps the run file; this one ends
 *   asked=FILE    writes the numbers of the questions that are asked there
 *   other=N       writes into another build's id
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/caper.h"

int counter, flag, limit; /* pairs, for the table */
#ifdef EDITED
#define step(x) ((x) = 2) /* one access less */
#else
#define step(x) ((x)++)
#endif

static void *worker(void *arg)
{
    counter++;
    if (flag)
        limit = 3;
    return arg;
}

static struct dh_caper_run *map_run(void)
{
    const char *name = getenv(DH_CAPER_RUN);
    struct stat st;
    int fd = name ? open(name, O_RDWR) : -1;
    if (fd < 0 || fstat(fd, &st) != 0)
        return NULL;
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return p == MAP_FAILED ? NULL : p;
}

static void make(const char *name)
{
    close(open(name, O_WRONLY | O_CREAT, 0666));
}

static void list_asked(const struct dh_caper_run *run, const char *name)
{
    FILE *f = fopen(name, "w");
    const unsigned char *wanted = (const unsigned char *)(run + 1);
    for (unsigned g = 0; f && g < run->n_groups; g++)
        if (wanted[g])
            fprintf(f, "%u\n", g);
    if (f)
        fclose(f);
}

static void obey(struct dh_caper_run *run, const char *word)
{
    unsigned char *escaped = (unsigned char *)(run + 1) + run->n_groups;
    const char *value = strchr(word, '=') ? strchr(word, '=') + 1 : "";
    if (strncmp(word, "trouble=", 8) == 0)
        run->trouble |= strtoul(value, NULL, 10);
    else if (strncmp(word, "exit=", 5) == 0)
        exit(atoi(value));
    else if (strncmp(word, "kill=", 5) == 0)
        raise(atoi(value));
    else if (strncmp(word, "say=", 4) == 0)
        make(value);
    else if (strncmp(word, "wait=", 5) == 0)
        while (access(value, F_OK) != 0)
            usleep(1000);
    else if (strncmp(word, "asked=", 6) == 0)
        list_asked(run, value);
    else if (strncmp(word, "other=", 6) == 0)
        run->build_id[0] ^= (unsigned char)atoi(value);
    else if (strncmp(word, "leave=", 6) == 0 && fork() != 0)
        exit(0);
    else if (word[0] >= '0' && word[0] <= '9' && (unsigned)atoi(word) < run->n_groups)
        escaped[atoi(word)] = 1;
}

int main(int argc, char **argv)
{
    pthread_t t;
    struct dh_caper_run *run = map_run();
    pthread_create(&t, NULL, worker, NULL);
    step(counter);
    flag = 1;
    limit = counter;
    pthread_join(t, NULL);
    if (!run)
        return 9;
    run->started += argc < 2 || strcmp(argv[1], "quiet") != 0;
    for (int i = 1; i < argc; i++)
        obey(run, argv[i]);
    run->ended++;
    puts("done");
    return 0;
}
