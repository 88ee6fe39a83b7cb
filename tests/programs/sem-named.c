// A named semaphore, opened by each thread for itself, hands a buffer over and back.
// NO RACE
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

#include "invisible.h"

static char there[64], back[64];
static int data;

static sem_t *open_one(const char *name)
{
    sem_t *s = sem_open(name, O_CREAT, 0600, 0);

    MUST(s != SEM_FAILED);
    return s;
}

THREAD(first)
{
    sem_t *t = open_one(there), *b = open_one(back);

    for (int i = 0; i < 10; i++) {
        data++;
        sem_post(t);
        MUST(sem_wait(b) == 0);
    }
    sem_close(t);
    sem_close(b);
    return NULL;
}

THREAD(second)
{
    sem_t *t = open_one(there), *b = open_one(back);

    for (int i = 0; i < 10; i++) {
        MUST(sem_wait(t) == 0);
        data++;
        sem_post(b);
    }
    sem_close(t);
    sem_close(b);
    return NULL;
}

int main(void)
{
    snprintf(there, sizeof there, "/deadheat-there-%ld", (long)getpid());
    snprintf(back, sizeof back, "/deadheat-back-%ld", (long)getpid());
    both(first, second);
    MUST(data == 20);
    return sem_unlink(there) | sem_unlink(back);
}
