// A stream into memory makes a buffer, and stores its address.
#include <pthread.h>
#include <stdio.h>

static char *text;
static size_t size;

static void *thread(void *arg)
{
    text[0]++; // PAIR a
    return arg;
}

int main(void)
{
    pthread_t a, b;
    FILE *f = open_memstream(&text, &size); // NO PAIR
    fputs("text", f);
    fclose(f);
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    pthread_join(a, NULL);
    return pthread_join(b, NULL);
}
