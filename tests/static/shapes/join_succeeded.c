// As many handles are joined as creations have succeeded: counted apart, or by the loop itself, which is left by the first that
// has not.
// WRONG 1: a creation that succeeded is not always counted
// WRONG 2: the loop is left before the last one is counted
// WRONG 3: one less is joined
// WRONG 4: those that failed are counted
// WRONG 5: a handle is written by hand
// WRONG 6: the loop begins again
#include "shapes.h"

enum { SIZE = 8 };
int first, second;
pthread_t handles[SIZE];

static void *one(void *arg)
{
    __atomic_fetch_add(&first, 1, __ATOMIC_SEQ_CST); // HERE
    return arg;
}

static void *two(void *arg)
{
    __atomic_fetch_add(&second, 1, __ATOMIC_SEQ_CST); // HERE
    return arg;
}

int main(void)
{
    pthread_t t[SIZE];
    int n, m;
    W6(again:, )
    n = 0;
    for (int i = 0; i < SIZE; i++)
        if (pthread_create(&t[n], NULL, one, NULL) W4(!=, ==) 0) {
            W1(if (input()), )
            n++;
        }
    W6(if (input()) goto again, );
    W5(t[0] = t[1], );
    for (int i = 0; i < n W3(-1, ); i++)
        pthread_join(t[i], NULL);
    first++; // HERE
    for (m = 0; m < SIZE; m++) {
        if (pthread_create(&handles[m], NULL, two, NULL) != 0)
            break;
        W2(if (input()) break, );
    }
    for (int i = 0; i < m; i++)
        pthread_join(handles[i], NULL);
    second++; // HERE
    return 0;
}
