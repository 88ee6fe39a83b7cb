/* A race that inference confirms; only if the second access comes first does the program crash. In ordinary runs the
 * reader is some milliseconds earlier. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int value = 1;
static int *current = &value;

static void *reader(void *total)
{
    *(int *)total += *current;
    return NULL;
}

static void *closer(void *unused)
{
    usleep(5000);
    current = NULL;
    return unused;
}

int main(void)
{
    int total = 0;
    pthread_t t[2];
    pthread_create(&t[0], NULL, reader, &total);
    pthread_create(&t[1], NULL, closer, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("%d\n", total);
    return 0;
}
