// What is computed from the value is never used, in a function that does nothing else.
#include <pthread.h>

struct range {
    long from, to;
} range;

static long length(const struct range *r)
{
    return r->to - r->from; // REMOVED a b
}

static void *thread(void *arg)
{
    (void)length(&range);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    range.from = 1; // REMOVED a
    range.to = 2;   // REMOVED b
    return pthread_join(t, NULL);
}
