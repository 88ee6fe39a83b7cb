// A segment that is detached while another thread still uses it; the next one at that place is new memory.
// TSAN: it does not know shmdt
#include <sys/shm.h>

#include "invisible.h"

enum { SIZE = 3 * 4096 };
static char *segment;

THREAD(user)
{
    segment[2 * 4096 + 5] = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(owner)
{
    char *again;
    int id;

    after(1);
    MUST(shmdt(segment) == 0); // RACE a:free
    id = shmget(IPC_PRIVATE, SIZE, 0600);
    again = shmat(id, segment, 0);
    MUST(id >= 0 && again == segment && shmctl(id, IPC_RMID, NULL) == 0);
    again[2 * 4096 + 5] = 2;
    MUST(shmdt(again) == 0);
    return NULL;
}

int main(void)
{
    int id = shmget(IPC_PRIVATE, SIZE, 0600);

    MUST(id >= 0);
    segment = shmat(id, NULL, 0);
    MUST(segment != (void *)-1 && shmctl(id, IPC_RMID, NULL) == 0);
    both(user, owner);
    return 0;
}
