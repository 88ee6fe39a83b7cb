// Between two accesses to the same place a function is called that takes and leaves a lock: itself, through a pointer,
// or somewhere in a recursion; or it does so in a loop, once. What comes before is ordered by it and what comes after is
// not, so the check of the one must not stand for the other.
// FLAGS: -O2
#include "invisible.h"

pthread_mutex_t m[4];
volatile int a, b, c, d[64];
int calm;

__attribute__((noinline)) static void locks(int which)
{
    pthread_mutex_lock(&m[which]);
    pthread_mutex_unlock(&m[which]);
}

void (*volatile chosen)(int) = locks;

__attribute__((noinline)) static void down(int n);

__attribute__((noinline)) static void up(int n)
{
    calm += n;
    if (n)
        down(n - 1);
    calm++;
}

__attribute__((noinline)) static void down(int n)
{
    if (n)
        up(n - 1);
    else
        locks(2);
    calm += 2;
}

__attribute__((noinline)) static void sometimes(int yes)
{
    calm++;
    if (yes)
        locks(3);
}

THREAD(first)
{
    a = 1;
    locks(0);
    a = 2; // RACE a:write
    b = 1;
    chosen(1);
    b = 2; // RACE b:write
    c = 1;
    up(5);
    c = 2; // RACE c:write
    for (int i = 0; i < 64; i++) {
        d[i] = i; // RACE d:write
        sometimes(i == 31);
    }
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    locks(0);
    a = 3; // RACE a:write
    locks(1);
    b = 3; // RACE b:write
    locks(2);
    c = 3; // RACE c:write
    locks(3);
    d[30] = 1; /* ordered by the lock */
    d[40] = 2; // RACE d:write
    return NULL;
}

int main(void)
{
    for (int i = 0; i < 4; i++)
        pthread_mutex_init(&m[i], NULL);
    both(first, second);
    use(calm);
    return 0;
}
