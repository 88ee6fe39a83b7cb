/* two.c - two races, or none with an argument; says "ran". */
#include <pthread.h>
#include <stdio.h>

int first, second;

static void *body(void *arg)
{
    first++;
    second++;
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t;
    (void)argv;
    pthread_create(&t, NULL, body, NULL);
    if (argc == 1) {
        first++;
        second++;
    }
    pthread_join(t, NULL);
    puts("ran");
    return 0;
}
