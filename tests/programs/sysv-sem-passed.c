// A call that lowers one semaphore and raises another passes on what it got, before it is back itself.
// NO RACE
// TSAN: it does not know these semaphores
#include <sys/ipc.h>
#include <sys/sem.h>

#include "invisible.h"

static int set, x;

static void change(int number, int by)
{
    MUST(semop(set, &(struct sembuf){.sem_num = number, .sem_op = by}, 1) == 0);
}

THREAD(first)
{
    x = 1;
    change(0, 1);
    return NULL;
}

THREAD(between)
{
    struct sembuf ops[] = {{.sem_num = 0, .sem_op = -1}, {.sem_num = 1, .sem_op = 1}};

    MUST(semop(set, ops, 2) == 0);
    return NULL;
}

THREAD(last)
{
    change(1, -1);
    MUST(x == 1);
    x = 2;
    return NULL;
}

int main(void)
{
    pthread_t middle;

    set = semget(IPC_PRIVATE, 2, 0600);
    MUST(set >= 0);
    middle = spawn(between, NULL);
    both(first, last);
    join(middle);
    return semctl(set, 0, IPC_RMID);
}
