// Two that lower a semaphore are not ordered, nor two that raise it; and what follows a raise is late.
// TSAN: it does not know these semaphores
#include <sys/ipc.h>
#include <sys/sem.h>

#include "invisible.h"

enum { GIVEN, ROOM };
static int set;
int consumed, raised, late;

static void change(int number, int by)
{
    MUST(semop(set, &(struct sembuf){.sem_num = number, .sem_op = by}, 1) == 0);
}

THREAD(first)
{
    consumed = 1; // RACE a:write
    change(GIVEN, -1);
    raised = 1; // RACE b:write
    change(ROOM, 1);
    late = 1; // RACE c:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    change(GIVEN, -1);
    consumed = 2; // RACE a:write
    raised = 2;   // RACE b:write
    change(ROOM, 1);
    change(ROOM, -1);
    late = 2; // RACE c:write
    return NULL;
}

int main(void)
{
    set = semget(IPC_PRIVATE, 2, 0600);
    MUST(set >= 0 && semctl(set, GIVEN, SETVAL, 2) == 0);
    both(first, second);
    return semctl(set, 0, IPC_RMID);
}
