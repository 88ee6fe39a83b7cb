// memset, strcpy and memcmp access what they are given.
#include <pthread.h>
#include <string.h>

char buffer[64], text[64], same[64];

static void *thread(void *arg)
{
    memset(buffer, 1, sizeof buffer);             // PAIR a
    strcpy(text, arg);                            // PAIR b
    return memcmp(same, arg, 3) ? NULL : &buffer; // NO PAIR
}

int main(int argc, char **argv)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, argv[0]);
    int n = buffer[argc];       // PAIR a
    n += (int)strlen(text);     // PAIR b
    n += strcmp(same, argv[0]); // NO PAIR
    pthread_join(t, NULL);
    return n;
}
