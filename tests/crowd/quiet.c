/*
 * quiet.c LOG [FILE] - no race: what one thread writes, the other reads after it was told to, which a static analysis by locks does
 * not see. Its process is noted in the log. With a file it is a server: it makes that file, does not end by itself, and ends only
 * when it is asked to.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 20 };

int handed;
static sem_t full, empty;

static void *take(void *arg)
{
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        sem_wait(&full);
        sum += handed;
        sem_post(&empty);
    }
    printf("%d\n", sum);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t;
    char line[32];
    int log = open(argv[1], O_WRONLY | O_APPEND | O_CREAT, 0666);
    ssize_t n = write(log, line, (size_t)snprintf(line, sizeof(line), "%d\n", (int)getpid()));
    sem_init(&full, 0, 0);
    sem_init(&empty, 0, 1);
    pthread_create(&t, NULL, take, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        sem_wait(&empty);
        handed = i;
        sem_post(&full);
        usleep(1000);
    }
    pthread_join(t, NULL);
    if (argc > 2)
        close(open(argv[2], O_CREAT | O_WRONLY, 0666));
    while (argc > 2)
        pause();
    return n < 0;
}
