// Structures that hold pointers, copied through buffers, shifted in arrays, and byte by byte (a copy in pieces: assumed, and counted).
// NOT AT -O0
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct box {
    int n;
    int *p;
};
int x, y, z, w;

static char buffer[256];

static size_t at;

static struct box boxes[4];

static __attribute__((noinline)) void put(const void *d, size_t n)
{
    memcpy(buffer + at, d, n);
    at += n;
}

static __attribute__((noinline)) void get(void *d, size_t off, size_t n)
{
    memcpy(d, buffer + off, n);
}

static __attribute__((noinline)) void shift(struct box *b, int i, int n)
{
    memmove(b + i, b + i + 1, n * sizeof *b);
}

static void *f(void *a)
{
    struct box b;
    get(&b, 0, sizeof b);
    *b.p = 2;        // RACE a
    *boxes[0].p = 3; // RACE b
    struct box c;
    unsigned char *s = (unsigned char *)&boxes[2], *d = (unsigned char *)&c;
    for (size_t i = 0; i < sizeof c; i++)
        d[i] = s[i];
    *c.p = 4; // RACE c
    return a;
}

int main(void)
{
    struct box b = {1, &x};
    put(&b, sizeof b);
    boxes[1].p = &y;
    shift(boxes, 0, 1);
    boxes[2].p = &z;
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    x = 1; // RACE a
    y = 1; // RACE b
    z = 1; // RACE c
    pthread_join(t, 0);
    return 0;
}
