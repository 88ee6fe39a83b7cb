// The members of a union are one place.
#include <pthread.h>

union number {
    int i;
    float f;
    char bytes[4];
} u;

static void *thread(void *arg)
{
    u.i = 1; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    u.f = 2; // PAIR a
    pthread_join(t, NULL);
    return 0;
}
