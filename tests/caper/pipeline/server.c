/*
 * server.c - does not end by itself: two threads race, it makes the file "up", and then it waits for nobody. With a
 * name, it waits until there is such a file, and ends with status 3.
 */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

enum { ROUNDS = 150 };

int racy;

static void *worker(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        racy++;
        usleep(500);
    }
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t[2];
    while (argc > 1) {
        if (access(argv[1], F_OK) == 0)
            return 3;
        usleep(1000);
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    close(open("up", O_CREAT | O_WRONLY, 0666));
    for (;;)
        pause();
}
