// A pointer as a number, and as two halves (a copy in pieces: assumed, and counted).
// NOT AT -O0
#include <pthread.h>
#include <stdint.h>

union u {
    void *p;
    uint64_t bits;
    struct {
        uint32_t lo, hi;
    } w;
    unsigned char bytes[8];
};
int x, y;

static void *f(void *a)
{
    union u u;
    u.bits = (uintptr_t)a;
    ++*(int *)u.p; // RACE a
    union u v;
    v.p = &y;
    union u w;
    w.w.lo = v.w.lo;
    w.w.hi = v.w.hi;
    *(int *)w.p = 3; // RACE b
    return a;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, f, &x);
    x = 1; // RACE a
    y = 2; // RACE b
    pthread_join(t, 0);
    return 0;
}
