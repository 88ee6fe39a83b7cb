// What a value is is known only behind a test: a variable of the one branch says nothing of the other.
#include <pthread.h>
#include <stdlib.h>

struct alpha {
    long state, count, sum;
};
struct beta {
    long *next;
    char name[24];
    long size;
};

static inline void use_alpha(void *p)
{
    struct alpha *a = p;
    a->count = 1; // PAIR a
}

__attribute__((noinline)) static void use_beta(void *p)
{
    struct beta *b = p;
    b->size = 1; // PAIR b
}

__attribute__((noinline)) static void use(void *p, int kind)
{
    if (kind)
        use_alpha(p);
    else
        use_beta(p);
}

static void *thread(void *arg)
{
    void **all = arg;
    use(all[0], 1);
    use(all[1], 0);
    return NULL;
}

int main(void)
{
    pthread_t t;
    struct alpha *a = malloc(sizeof *a);
    struct beta *b = malloc(sizeof *b);
    void *all[2] = {a, b};
    pthread_create(&t, NULL, thread, all);
    use(a, 1);
    use(b, 0);
    return pthread_join(t, NULL);
}
