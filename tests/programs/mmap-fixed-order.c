// Whoever is ordered after the users may map over their memory, move something there, or empty it.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "invisible.h"

enum { SIZE = 1 << 16 };
static char *shared, *other;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static char *map(void *where, int fixed)
{
    char *p = mmap(where, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);

    MUST(p != MAP_FAILED);
    return p;
}

THREAD(user)
{
    pthread_mutex_lock(&lock);
    memset(shared, 1, SIZE);
    memset(other, 1, SIZE);
    pthread_mutex_unlock(&lock);
    mark();
    return NULL;
}

THREAD(mapper)
{
    after(1);
    pthread_mutex_lock(&lock);
    MUST(map(shared, MAP_FIXED) == shared && shared[5] == 0);
    MUST(madvise(shared, SIZE, MADV_DONTNEED) == 0);
    shared[5] = 2;
    MUST(mremap(shared, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, other) == other);
    MUST(other[5] == 2);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Emptying a file's pages leaves what they hold. */
THREAD(reader)
{
    use(shared[100]);
    mark();
    return NULL;
}

THREAD(adviser)
{
    after(2);
    MUST(madvise(shared, SIZE, MADV_DONTNEED) == 0);
    return NULL;
}

int main(void)
{
    int fd;

    shared = map(NULL, 0);
    other = map(NULL, 0);
    both(user, mapper);
    fd = memfd_create("file", 0);
    MUST(fd >= 0 && ftruncate(fd, SIZE) == 0);
    shared = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    MUST(shared != MAP_FAILED);
    both(reader, adviser);
    return 0;
}
