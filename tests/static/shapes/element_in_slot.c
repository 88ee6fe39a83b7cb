// Blocks that an earlier loop allocates than the one that creates: given to the threads, found by their number, or by a
// pointer in what they are given.
// WRONG 1: two slots have one block
// WRONG 2: two threads read one slot
// WRONG 3: a slot is replaced before the threads are created
// WRONG 4: all blocks are one
// WRONG 5: a block is accessed before its thread is joined
// WRONG 6: a thread accesses the block of the next one
#include "shapes.h"

struct work {
    int number;
    long sum;
};
struct box {
    char *text;
};
int **row, width;

static void *with_block(void *arg)
{
    struct work *w = arg;
    w->sum = w->number; // HERE
    return NULL;
}

static void *with_row(void *arg)
{
    int i = (int)(long)arg;
    for (int k = 0; k < width; k++)
        row[W2(i / 2, i)][k]++; // HERE
    W6(row[i + 1][0]++, );      // HERE
    return NULL;
}

static void *with_text(void *arg)
{
    struct box *b = arg;
    b->text[0]++; // HERE
    return NULL;
}

int main(void)
{
    int n = input();
    long sum = 0;
    pthread_t *t = malloc((size_t)n * sizeof *t);
    struct work **w = malloc((size_t)n * sizeof *w);
    W4(struct work *common = malloc(sizeof *common), );
    for (int i = 0; i < n; i++) {
        w[i] = W4(common, malloc(sizeof *w[i]));
        w[i]->number = i;
    }
    W1(w[0] = w[1], );
    for (int i = 0; i < n; i++)
        pthread_create(&t[i], NULL, with_block, w[i]);
    for (int i = 0; i < n; i++) {
        W5(sum += w[i]->sum, ); // HERE
        pthread_join(t[i], NULL);
        sum += w[i]->sum; // HERE
        free(w[i]);
    }

    width = input();
    row = malloc((size_t)n * sizeof *row);
    for (int i = 0; i < n; i++)
        row[i] = calloc((size_t)width, sizeof *row[i]);
    W3(row[input()] = row[input()], );
    for (int i = 0; i < n; i++)
        pthread_create(&t[i], NULL, with_row, (void *)(long)i);
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);

    struct box *b = malloc((size_t)n * sizeof *b);
    for (int i = 0; i < n; i++)
        b[i].text = malloc(16);
    for (int i = 0; i < n; i++)
        pthread_create(&t[i], NULL, with_text, &b[i]);
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);
    return (int)sum;
}
