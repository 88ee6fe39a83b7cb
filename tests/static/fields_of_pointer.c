// Fields through pointers of either side, in nested structures.
#include <pthread.h>

struct inner {
    int a, b;
};
struct outer {
    struct inner first, second;
} o;

static void *thread(void *arg)
{
    struct inner *i = arg;
    i->a = 1; // NO PAIR
    i->b = 1; // PAIR a
    return NULL;
}

__attribute__((noinline)) static void touch(struct outer *p)
{
    p->first.b = 2;  // NO PAIR
    p->second.b = 2; // PAIR a
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, &o.second);
    touch(&o);
    pthread_join(t, NULL);
    return 0;
}
