// Functions whose addresses are in the sections that the dynamic linker calls are called.
#include <pthread.h>
#include <stdlib.h>

int *first, *second;
static pthread_t t;

static void *thread(void *arg)
{
    *first = 1;  // PAIR a c
    *second = 1; // PAIR b
    return NULL;
}

static void before_all(int argc, char **argv)
{
    first = malloc(sizeof(*first)); // PAIR c
}

static void before_main(int argc, char **argv)
{
    second = malloc(sizeof(*second));
    pthread_create(&t, NULL, thread, NULL);
}

__attribute__((section(".preinit_array"), used)) static void (*const early)(int, char **) = before_all;
__attribute__((section(".init_array"), used)) static void (*const late[])(int, char **) = {before_main};

int main(void)
{
    *first = 2;  // PAIR a
    *second = 2; // PAIR b
    return 0;
}
