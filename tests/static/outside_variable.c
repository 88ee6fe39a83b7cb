// Variables of a library: shared, and so is what they point to.
// ASSUMED outside-memory 2
#include <pthread.h>

extern int library_count, *library_pointer;
extern struct {
    long size;
    char *text;
} library_buffer;

static void *thread(void *arg)
{
    library_count++;            // PAIR a
    *library_pointer = 1;       // PAIR b
    library_buffer.text[3] = 1; // PAIR c
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
