/*
 * lives.c THREADS [fork | exec] - threads that all count on one racy variable and on a guarded one; before, a child that
 * writes too and ends, or another run of itself in its place.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_THREADS = 64 };

static pthread_barrier_t together;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long racy, guarded;

static void *body(void *arg)
{
    pthread_barrier_wait(&together);
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&mutex);
        guarded++;
        pthread_mutex_unlock(&mutex);
    }
    racy++; /* the race */
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t threads[MAX_THREADS];
    int n = argc > 1 ? atoi(argv[1]) : 2;
    const char *first = argc > 2 ? argv[2] : "";
    if (strcmp(first, "fork") == 0) {
        pid_t pid = fork();
        if (pid == 0) {
            guarded = 1;
            _exit(3);
        }
        waitpid(pid, NULL, 0);
    } else if (strcmp(first, "exec") == 0) {
        execl(argv[0], argv[0], argv[1], NULL);
    }
    pthread_barrier_init(&together, NULL, (unsigned)n);
    for (long i = 0; i < n && i < MAX_THREADS; i++)
        pthread_create(&threads[i], NULL, body, NULL);
    for (int i = 0; i < n && i < MAX_THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", guarded);
    return 0;
}
