// FLAGS -O0
// Each thread is given a block that was allocated for it, and frees it.
#include <pthread.h>
#include <stdlib.h>

struct block {
    int in, out, kept;
};

static struct block *new_block(int in)
{
    struct block *b = malloc(sizeof *b);
    b->in = in; // NO PAIR
    return b;
}

static void *thread(void *arg)
{
    struct block *b = arg;
    b->out = b->in + 1; // NO PAIR
    free(b);            // NO PAIR
    return NULL;
}

static void *other(void *arg)
{
    struct block *b = arg;
    b->out++;  // NO PAIR
    b->kept++; // PAIR a
    return NULL;
}

static void *given_twice(void *arg)
{
    struct block *b = arg;
    b->out++; // PAIR c:partition
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    for (int i = 0; i < argc; i++) {
        struct block *b = malloc(sizeof *b);
        b->in = i; // NO PAIR
        pthread_create(&t, NULL, thread, b);
    }
    for (int i = 0; i < argc; i++) {
        struct block *b = new_block(i);
        b->out = 0;  // NO PAIR
        b->kept = 0; // NO PAIR
        pthread_create(&t, NULL, other, b);
        b->kept = i; // PAIR a
    }
    struct block *b = malloc(sizeof *b);
    for (int i = 0; i < argc; i++) {
        pthread_create(&t, NULL, given_twice, b);
        if (i == 2)
            b = malloc(sizeof *b);
    }
    return 0;
}
