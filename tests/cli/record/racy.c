/*
 * racy.c [ROUNDS [WHO [FILE]]] - one racy variable, one guarded one, one that changes hands through a flag; then, if asked, kills
 * itself (WHO 0) or its parent, the recorder (WHO 1 FILE), as soon as the recording FILE has its events.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int racy, guarded, handed;
static atomic_int ready;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int rounds = 10;

static void work(void)
{
    for (int i = 0; i < rounds; i++) {
        racy++; /* the race */
        pthread_mutex_lock(&mutex);
        guarded++;
        pthread_mutex_unlock(&mutex);
    }
}

static void *body(void *arg)
{
    work();
    handed = 1;
    atomic_store_explicit(&ready, 1, memory_order_release);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t;
    if (argc > 1)
        rounds = atoi(argv[1]);
    pthread_create(&t, NULL, body, NULL);
    work();
    while (!atomic_load_explicit(&ready, memory_order_acquire))
        ;
    handed++;
    pthread_join(t, NULL);
    if (argc > 2 && strcmp(argv[2], "0") == 0)
        kill(getpid(), SIGKILL);
    if (argc > 3) {
        /* All that was done up to here is in the file when it has grown so often. */
        struct stat st = {0};
        off_t last = 0;
        for (int grown = 0; grown < 20; work()) {
            grown += stat(argv[3], &st) == 0 && st.st_size > last;
            last = st.st_size;
        }
        kill(getppid(), SIGKILL);
        rounds = 100000;
        work(); /* goes on without a recorder */
    }
    printf("%d %d\n", guarded > 0, handed);
    return 7;
}
