// A call through a pointer reaches what was stored there, and nothing else.
#include <pthread.h>

int x, y;

static void one(void)
{
    x++; // PAIR a
}

__attribute__((used)) static void other(void)
{
    y++; // NO PAIR
}

void (*hook)(void);

static void *thread(void *arg)
{
    hook(); // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t;
    hook = one; // NO PAIR
    pthread_create(&t, NULL, thread, NULL);
    x++; // PAIR a
    y++; // NO PAIR
    pthread_join(t, NULL);
    return 0;
}
