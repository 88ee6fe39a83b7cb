// A structure with an array at its end that has no length: who walks over that stays in it.
#include <pthread.h>
#include <stdlib.h>

struct text {
    long length;
    long *mine, *yours;
    unsigned char bytes[];
};
long x, y;

__attribute__((noinline)) static void fill(unsigned char *p, const unsigned char *end)
{
    for (; p < end; p += 8)
        *(long *)p = 0; // NO PAIR
}

__attribute__((noinline)) static struct text *make(size_t n)
{
    struct text *t = malloc(sizeof *t + n);
    if (!t)
        abort();
    t->length = (long)n;
    return t;
}

static void *thread(void *arg)
{
    struct text *t = arg;
    *t->mine = 1; // NO PAIR
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    struct text *s = make((size_t)argc * 8);
    s->mine = &x;
    s->yours = &y;
    pthread_create(&t, NULL, thread, s);
    fill(s->bytes, s->bytes + argc * 8);
    *s->yours = 2; // NO PAIR
    return pthread_join(t, NULL);
}
