// Fields of bits in one word are written together.
#include <pthread.h>

struct flags {
    unsigned a : 3, b : 5;
    unsigned : 0;
    unsigned c : 4;
} f;

static void *thread(void *arg)
{
    f.a = 1; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    f.b = 2; // PAIR a
    f.c = 2; // NO PAIR
    pthread_join(t, NULL);
    return 0;
}
