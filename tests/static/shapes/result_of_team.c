// What a loop that joins gets as results: pointers to the elements of the threads, or to blocks that they have made.
// WRONG 1: a thread returns the element of another one
// WRONG 2: the variable with the result is changed
// WRONG 3: a thread ends with another result
// WRONG 4: a thread writes to the block of another one
// WRONG 5: the block is one for all
// WRONG 6: the result is looked at before the join
#include "shapes.h"

enum { SIZE = 8 };
struct work {
    int sum;
    struct work *all;
};
int *last, common[SIZE];

static void *with_element(void *arg)
{
    struct work *w = arg;
    W3(if (input()) pthread_exit(w->all), );
    w->sum++; // HERE
    return W1(w->all, w);
}

static void *with_block(void *arg)
{
    int *block = W5(common, malloc(sizeof *block));
    *block = (int)(long)arg; // HERE
    W4(++*last, );           // HERE
    W4(last = block, );
    return block;
}

int main(void)
{
    pthread_t t[SIZE];
    struct work w[SIZE];
    void *result, *number;
    int sum = 0;
    for (int i = 0; i < SIZE; i++) {
        w[i].sum = 0;
        w[i].all = &w[SIZE - 1];
        pthread_create(&t[i], NULL, with_element, &w[i]);
    }
    W6(result = &w[SIZE - 1], );
    for (int i = 0; i < SIZE; i++) {
        W6(sum += ((struct work *)result)->sum, ); // HERE
        pthread_join(t[i], &result);
        W2(result = &w[SIZE - 1], );
        sum += ((struct work *)result)->sum; // HERE
    }
    for (int i = 0; i < SIZE; i++)
        pthread_create(&t[i], NULL, with_block, (void *)(long)i);
    for (int i = 0; i < SIZE; i++) {
        pthread_join(t[i], &number);
        sum += *(int *)number; // HERE
        W5(, free(number));
    }
    return sum;
}
