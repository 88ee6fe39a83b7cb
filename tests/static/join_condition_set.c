// Whether there is a thread to join is remembered in a variable, which is set where the thread is created.
#include <pthread.h>
#include <stdbool.h>

int x;

static void *thread(void *arg)
{
    x = 1; // NO PAIR
    return NULL;
}

int main(int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        pthread_t t;
        bool started = false;
        x = 2; // NO PAIR
        switch (argv[i][0]) {
        case 'a':
            started = pthread_create(&t, NULL, thread, NULL) == 0;
            if (!started)
                return 1;
            break;
        case 'b':
            pthread_create(&t, NULL, thread, argv[i]);
            started = true;
            break;
        default:
            break;
        }
        if (started)
            pthread_join(t, NULL);
        x = 3; // NO PAIR
    }
    return 0;
}
