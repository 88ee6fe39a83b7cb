// Constants, and strings, are only ever read.
#include <pthread.h>
#include <string.h>

static const int table[] = {3, 1, 4, 1, 5, 9, 2, 6};
const char *const names[] = {"one", "two", "three"};

static void *thread(void *arg)
{
    long i = (long)arg;
    return (void *)(table[i & 7] + strlen(names[i % 3])); // NO PAIR
}

int main(int argc, char **argv)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    int n = table[argc & 7] + names[argc % 3][0]; // NO PAIR
    pthread_join(t, NULL);
    return n;
}
