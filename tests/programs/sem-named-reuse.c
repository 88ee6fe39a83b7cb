// A named semaphore is closed, and another is given its address: it has not inherited the first one's posts.
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

#include "invisible.h"

int x;
void *first_at, *second_at;

static sem_t *fresh(const char *what, unsigned value)
{
    char name[64];
    sem_t *s;

    snprintf(name, sizeof name, "/deadheat-test-%s-%ld", what, (long)getpid());
    s = sem_open(name, O_CREAT | O_EXCL, 0600, value);
    MUST(s != SEM_FAILED && sem_unlink(name) == 0);
    return s;
}

THREAD(first)
{
    sem_t *s, *again;

    after(1); // nothing else is mapped meanwhile
    s = fresh("first", 0);
    x = 1; // RACE a:write
    sem_post(s);
    hide(&first_at, s);
    MUST(sem_close(s) == 0);
    again = fresh("second", 1); // maps where the first one was, as a rule
    hide(&second_at, again);
    mark();
    return NULL;
}

THREAD(second)
{
    mark();
    after(2);
    MUST(seek(&first_at) == seek(&second_at));
    MUST(sem_wait(seek(&second_at)) == 0);
    x = 2; // RACE a:write
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
