// In each round the block that was accessed is freed, and a private one takes its place: a question must not wait for the end of
// the loop, nor of the round.
// FLAGS: -O2
#define OWN_FRAME
#define NO_PRIVATE
#include "escape.h"

enum { N = 4 };

static struct node *shared[N], *again[N];

NOINLINE void replace_all(struct node **own, long n)
{
    for (long i = 0; i < n; i++) {
        volatile struct node *one = shared[i];
        one->value = 2; // ESCAPED
        free((void *)one);
        own[i] = (struct node *)malloc(sizeof(struct node));
    }
}

NOINLINE void replace_one(struct node **own, long n)
{
    struct node *one = again[0];

    for (long i = 0; i < n; i++) {
        one->value += i; // ESCAPED
        if (i == n - 1) {
            free(one);
            own[0] = (struct node *)malloc(sizeof(struct node));
        }
    }
}

THREAD(owner)
{
    struct node *own[N] = {NULL};

    for (int i = 0; i < N; i++) {
        shared[i] = fresh();
        again[i] = fresh();
    }
    mark();
    after(2);
    replace_all(own, unknown(N));
    replace_one(own, unknown(N));
    for (int i = 0; i < N; i++)
        free(own[i]);
    return NULL;
}

THREAD(other)
{
    after(1);
    for (int i = 0; i < N; i++) {
        shared[i]->value = 3; // ESCAPED
        again[i]->value = 3;  // ESCAPED
    }
    mark();
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
