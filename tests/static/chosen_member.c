// FLAGS -O2
// One of two members, chosen by a condition: optimised, the offset is chosen, and it is none of the others.
#include <pthread.h>

struct counts {
    int first, hits, misses, last;
} c, d;

__attribute__((noinline)) static void count(struct counts *p, int hit)
{
    ++*(hit ? &p->hits : &p->misses); // PAIR a
}

static void *thread(void *arg)
{
    count(arg, arg == &c);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, argc > 1 ? &c : &d);
    c.first = 1; // NO PAIR
    c.hits = 1;  // PAIR a
    c.last = 1;  // NO PAIR
    pthread_join(t, NULL);
    return 0;
}
