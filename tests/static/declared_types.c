// A table of functions of one type, each with a structure of its own: none accesses that of the others.
#include <pthread.h>
#include <stdlib.h>

struct alpha {
    long state, count, sum;
};
struct beta {
    char name[16];
    long size, more;
};
struct coder {
    void (*code)(void *);
    void *own;
};
static struct coder coders[2];

static void code_alpha(void *own)
{
    struct alpha *a = own;
    a->count = 1; // PAIR a
}

static void code_beta(void *own)
{
    struct beta *b = own;
    b->name[8] = 1; // PAIR b
}

static void *thread(void *arg)
{
    for (int i = 0; i < 2; i++)
        coders[i].code(coders[i].own);
    return NULL;
}

int main(void)
{
    pthread_t t;
    struct alpha *a = malloc(sizeof *a);
    struct beta *b = malloc(sizeof *b);
    coders[0] = (struct coder){code_alpha, a};
    coders[1] = (struct coder){code_beta, b};
    pthread_create(&t, NULL, thread, NULL);
    thread(NULL);
    return pthread_join(t, NULL);
}
