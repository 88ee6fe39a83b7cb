// Semaphores of System V order: as a lock, as one that is free at zero, as a count, as a value set.
// NO RACE
// TSAN: it does not know these semaphores
// FLAGS: -D_GNU_SOURCE
#include <sys/ipc.h>
#include <sys/sem.h>
#include <time.h>

#include "invisible.h"

enum { LOCK, TAKEN, FULL, DONE, START, COUNT };
static int set, locked, taken, item, at_start, finished;

static void change(int number, int by)
{
    MUST(semop(set, &(struct sembuf){.sem_num = number, .sem_op = by, .sem_flg = SEM_UNDO}, 1) == 0);
}

static void step(void)
{
    struct sembuf take[] = {{.sem_num = TAKEN, .sem_op = 0}, {.sem_num = TAKEN, .sem_op = 1}};

    change(LOCK, -1);
    locked++;
    change(LOCK, 1);
    MUST(semop(set, take, 2) == 0);
    taken++;
    change(TAKEN, -1);
}

THREAD(producer)
{
    struct timespec limit = {20, 0};

    change(START, -1);
    MUST(at_start == 1);
    step();
    item = 1;
    change(FULL, 2);
    /* Two have taken one each: it is at zero again when they are done. */
    MUST(semtimedop(set, &(struct sembuf){.sem_num = DONE, .sem_op = 0}, 1, &limit) == 0);
    MUST(finished == 1);
    finished = 2;
    return NULL;
}

THREAD(consumer)
{
    change(START, -1);
    MUST(at_start == 1);
    step();
    change(FULL, -1);
    MUST(item == 1);
    if (arg != NULL)
        finished = 1;
    change(DONE, -1);
    return NULL;
}

int main(void)
{
    unsigned short values[COUNT] = {[LOCK] = 1, [DONE] = 2};
    pthread_t threads[3];

    set = semget(IPC_PRIVATE, COUNT, 0600);
    MUST(set >= 0 && semctl(set, 0, SETALL, values) == 0);
    threads[0] = spawn(producer, NULL);
    threads[1] = spawn(consumer, NULL);
    threads[2] = spawn(consumer, &set);
    at_start = 1;
    MUST(semctl(set, START, SETVAL, 3) == 0);
    for (int i = 0; i < 3; i++)
        join(threads[i]);
    MUST(locked == 3 && taken == 3);
    MUST(semctl(set, 0, GETALL, values) == 0 && values[LOCK] == 1 && values[START] == 0);
    return semctl(set, 0, IPC_RMID);
}
