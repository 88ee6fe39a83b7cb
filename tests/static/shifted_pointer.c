// A pointer and a count in one word: what is shifted is shifted back.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct node {
    int value;
};
static _Atomic uint64_t top;

static uint64_t pack(struct node *n, uint16_t count)
{
    return (uint64_t)(uintptr_t)n << 16 | count;
}

static struct node *unpack(uint64_t word)
{
    return (struct node *)(uintptr_t)(word >> 16);
}

static void *thread(void *arg)
{
    unpack(top)->value++; // PAIR a
    return arg;
}

int main(void)
{
    pthread_t a, b;
    top = pack(calloc(1, sizeof(struct node)), 1);
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    pthread_join(a, NULL);
    return pthread_join(b, NULL);
}
