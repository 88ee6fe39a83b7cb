// The same comparison, but of another value each time round.
#include <pthread.h>
#include <stdlib.h>

int x;

static void *thread(void *arg)
{
    x = 1; // PAIR a
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    int created = 0;
    for (int n = argc; n != 77; n = rand()) {
        if (n > 3 && !created) {
            pthread_create(&t, NULL, thread, NULL);
            created = 1;
        }
        if (n <= 3)
            x = 2; // PAIR a
    }
    return 0;
}
