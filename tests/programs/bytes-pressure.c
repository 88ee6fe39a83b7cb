// Fields of one word are accessed in one epoch, each on a line of its own, by a thread that has made thousands of words
// whose bytes were accessed from different places. The report names the line of the field that races.
#include "invisible.h"

enum { WORDS = 3 * 4096, ITEMS = 8 };

struct item {
    unsigned short refcount, flags;
} item[ITEMS];
static struct {
    unsigned char kind, length, used, level;
} node[ITEMS];
static unsigned char buffer[4 * WORDS];
volatile unsigned char *bytes;
volatile int where;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Ends an epoch; nobody else takes the lock. */
static void synchronise(void)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

THREAD(first)
{
    for (int i = 0; i < WORDS; i++) {
        bytes[4 * i] = 1;
        bytes[4 * i + 1] = 2;
        bytes[4 * i + 2] = 3;
        bytes[4 * i + 3] = 4;
        if (i % 32 == 0)
            synchronise();
    }
    synchronise();
    item[where].refcount = 1; // RACE a:write
    item[where].flags = 2;
    node[where].kind = 1;
    node[where].length = 2; // RACE b:write
    node[where].used = 3;
    use(node[where].level); // RACE c:read
    use(node[where].used);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    use(item[where].refcount); // RACE a:read
    use(node[where].length);   // RACE b:read
    node[where].level = 1;     // RACE c:write
    return NULL;
}

int main(void)
{
    bytes = buffer;
    both(first, second);
    return 0;
}
