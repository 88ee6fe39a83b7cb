// A part of a variable overlaps with the whole; the next one does not.
#include <pthread.h>
#include <stdint.h>

struct {
    uint32_t word;
    uint32_t next;
} s;

static void *thread(void *arg)
{
    s.word = 1; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    ((uint8_t *)&s.word)[2] = 2; // PAIR a
    ((uint8_t *)&s.next)[2] = 2; // NO PAIR
    pthread_join(t, NULL);
    return 0;
}
