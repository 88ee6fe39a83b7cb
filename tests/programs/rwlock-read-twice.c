// A thread that has taken a read lock twice lets go of it with the second unlock: what it does between the
// two comes before the writer, who comes before the next reader.
// NO RACE
#include <errno.h>

#include "invisible.h"

static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static int slot, table;

THREAD(reader)
{
    pthread_rwlock_rdlock(&l);
    MUST(pthread_rwlock_tryrdlock(&l) == 0);
    use(table);
    pthread_rwlock_unlock(&l);
    mark();
    after(2);
    use(table);
    slot = 1; /* its own, until the writer comes */
    pthread_rwlock_unlock(&l);
    mark();
    return NULL;
}

THREAD(writer)
{
    after(1);
    MUST(pthread_rwlock_trywrlock(&l) == EBUSY);
    mark();
    after(3);
    MUST(pthread_rwlock_trywrlock(&l) == 0);
    MUST(slot++ == 1);
    table = 1;
    pthread_rwlock_unlock(&l);
    mark();
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(reader, NULL), b = spawn(writer, NULL);

    after(4);
    pthread_rwlock_rdlock(&l);
    MUST(slot == 2 && table == 1);
    pthread_rwlock_unlock(&l);
    join(a);
    join(b);
    return 0;
}
