/*
 * Two threads race on three counters whose names sort differently as text and as people read them, in one file and a header.
 */
#include "invisible.h"
#include "other.h"

#include <pthread.h>

int f2, f10;
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER; /* orders nothing: one thread takes it */

static void *writer(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&door);
    pthread_mutex_unlock(&door);
    f10 = 1;
    f2 = 1;
    elsewhere();
    mark();
    return NULL;
}

static void *reader(void *unused)
{
    (void)unused;
    after(1);
    use(f10);
    use(f2);
    elsewhere();
    return NULL;
}

int main(void)
{
    both(writer, reader);
    return 0;
}
