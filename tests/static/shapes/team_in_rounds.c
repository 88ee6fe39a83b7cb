// Rounds of a team: arrays, blocks and handles are allocated in each round, and all threads are joined before the next.
// WRONG 1: the handles are in one array or another
// WRONG 2: all threads of a round are given one block, with a number in it
// WRONG 3: the array is replaced while threads of the round run
// WRONG 4: the number of threads changes before they are joined
// WRONG 5: a round ends without joins
// WRONG 6: the next round's array is that of the last one
#include "shapes.h"

enum { SIZE = 8, ROUNDS = 3 };
struct work {
    int number, sum;
};
int done, table[SIZE];

static void *other(void *arg)
{
    return arg;
}

static void *one(void *arg)
{
    __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST); // HERE
    return arg;
}

static void *two(void *arg)
{
    struct work *w = arg;
    int number = w->number;
    table[number]++; // HERE
    return arg;
}

static void *three(void *arg)
{
    struct work *w = arg;
    w->sum += w->number; // HERE
    return arg;
}

static void handles(void)
{
    pthread_t a[SIZE], b[SIZE], *t;
    int i = 0;
    for (int k = 0; k < SIZE; k++) {
        pthread_create(&a[k], NULL, other, NULL);
        pthread_create(&b[k], NULL, other, NULL);
    }
    t = a;
    do {
        W1(t = input() ? a : b, );
        pthread_create(&t[i], NULL, one, NULL);
        i++;
    } while (i < SIZE);
    for (int k = 0; k < SIZE; k++)
        pthread_join(t[k], NULL);
    done++; // HERE
}

static void blocks(void)
{
    pthread_t t[SIZE];
    for (int round = 0; round < ROUNDS; round++) {
        W2(struct work *w = malloc(sizeof *w), );
        for (int i = 0; i < SIZE; i++) {
            W2(, struct work *w = malloc(sizeof *w));
            w->number = i;
            pthread_create(&t[i], NULL, two, w);
        }
        for (int i = 0; i < SIZE; i++)
            pthread_join(t[i], NULL);
    }
}

static int arrays(int n)
{
    int sum = 0;
    W6(struct work *w = calloc((size_t)n, sizeof *w), );
    for (int round = 0; round < ROUNDS; round++) {
        W6(, struct work *w = calloc((size_t)n, sizeof *w));
        pthread_t *t = malloc((size_t)n * sizeof *t);
        for (int i = 0; i < n; i++) {
            W3(if (i == 3) w = calloc((size_t)n, sizeof *w), );
            w[i].number = i; // HERE
            pthread_create(&t[i], NULL, three, &w[i]);
        }
        W4(n = input(), );
        W5(if (input()) continue, );
        for (int i = 0; i < n; i++)
            pthread_join(t[i], NULL);
        for (int i = 0; i < n; i++)
            sum += w[i].sum; // HERE
        W6(if (input()) pthread_create(&t[0], NULL, three, &w[0]), );
        free(t);
    }
    return sum;
}

int main(void)
{
    handles();
    blocks();
    return arrays(input());
}
