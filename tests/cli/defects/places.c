/*
 * places.c - a small access meets one byte of a larger one: which variable a report names, and where it says
 * that the larger one began.
 */
#include <pthread.h>
#include <string.h>

#include "../../programs/invisible.h"

struct two {
    long x, y;
};

/* One after the other in memory, and 16 bytes from an address that is not a multiple of 16. */
static struct {
    struct {
        char a, b, c, d, e, f, g, h;
    } eight;
    struct {
        char x[3], y[13];
    } sixteen;
    struct two twos[2];
} all __attribute__((aligned(16)));
static struct __attribute__((packed)) {
    char first;
    long odd;
    short gap;
    int split;
} packed __attribute__((aligned(8)));
static char many[64] __attribute__((aligned(16)));
static int done;                    /* a byte to the optimiser, since it is only ever 0 or 7 */
static volatile size_t length = 16; /* not known to the compiler: a range */

static const struct two source = {1, 2};

static __attribute__((noinline)) void large(void)
{
    memset(&all.eight, 1, sizeof(all.eight));
    use(0); /* keeps the two apart */
    memset(&all.sixteen, 1, sizeof(all.sixteen));
    *(volatile struct two *)&all.twos[1] = source;
    packed.odd = 5;
    packed.split = 6;
    memset(many + 8, 1, length);
    done = 7;
}

static void *work(void *arg)
{
    (void)arg;
    large();
    mark();
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    after(1);
    use(all.eight.g);
    use(all.sixteen.y[2]);
    use(all.twos[1].y);
    use(((char *)&packed)[8]);
    use(((char *)&packed)[13]);
    use(many[21]);
    use(done);
    pthread_join(t, NULL);
    return 0;
}
