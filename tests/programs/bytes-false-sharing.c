// Fields of every size side by side in one cache line, each with its own thread, many times over.
// NO RACE
#include "invisible.h"

struct {
    char c;
    char d;
    short s;
    int i;
    long l;
    double f;
} one;

THREAD(characters)
{
    for (int i = 0; i < 1000; i++)
        one.c++;
    return NULL;
}

THREAD(others)
{
    for (int i = 0; i < 1000; i++) {
        one.d++;
        one.i++;
    }
    return NULL;
}

THREAD(rest)
{
    for (int i = 0; i < 1000; i++) {
        one.s++;
        one.l++;
        one.f += 1;
    }
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(characters, NULL), b = spawn(others, NULL), c = spawn(rest, NULL);

    join(a);
    join(b);
    join(c);
    MUST(one.i == 1000 && one.s == 1000 && one.l == 1000 && one.f == 1000.0);
    return 0;
}
