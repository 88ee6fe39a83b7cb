// Words are read over an array of bytes in a structure, by steps that do not fit into it: no other member is reached.
#include <pthread.h>
#include <stdlib.h>

struct coder {
    long *mine;
    unsigned char header[6];
    long *yours;
};
long x, y;

__attribute__((noinline)) static long sum(const unsigned char *p, long n)
{
    long s = 0;
    if (n & 1) {
        s += *p;
        p += 7;
    }
    for (; n > 0; n -= 8, p += 8)
        s += *(const long *)p;
    return s;
}

static void *thread(void *arg)
{
    struct coder *c = arg;
    *c->mine = sum(c->header, 6); // NO PAIR
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    struct coder *c = calloc(1, sizeof *c);
    c->mine = &x;
    c->yours = &y;
    pthread_create(&t, NULL, thread, c);
    *c->yours = sum(c->header, argc); // NO PAIR
    return pthread_join(t, NULL);
}
