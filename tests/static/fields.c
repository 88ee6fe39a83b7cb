// Different fields of one structure are different places.
#include <pthread.h>

struct pair {
    int left, right;
    char a, b;
} p;

static void *thread(void *arg)
{
    p.left = 1; // NO PAIR
    p.a = 1;    // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    p.right = 2; // NO PAIR
    p.b = 2;     // NO PAIR
    pthread_join(t, NULL);
    return 0;
}
