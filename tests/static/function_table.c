// Any function of a table may be called.
#include <pthread.h>

int x, y;

static void one(void)
{
    x++; // PAIR a
}

static void two(void)
{
    y++; // PAIR b
}

static void (*const table[])(void) = {one, two};

static void *thread(void *arg)
{
    table[(long)arg & 1]();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, (void *)(long)argc);
    x++; // PAIR a
    y++; // PAIR b
    pthread_join(t, NULL);
    return 0;
}
