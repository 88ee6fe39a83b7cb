// Structures that are laid over each other on purpose: one begins with the other, one begins like the other, and a
// union. Nothing is dropped by what the pointers are declared as.
// FLAGS -O2 -fno-strict-aliasing
#include <pthread.h>
#include <stdlib.h>

struct header {
    long kind;
    long length;
    long flags;
};
struct message {
    struct header header;
    long body;
};
struct other {
    long kind;
    long length;
    long number; // where `flags` is
};
struct either {
    union {
        long number;
        char text[24];
    } is;
};

__attribute__((noinline)) static void as_header(struct header *p)
{
    p->flags = 1; // PAIR a b c d
}
__attribute__((noinline)) static void as_message(struct message *p)
{
    p->header.flags = 1; // PAIR b e f g
}
__attribute__((noinline)) static void as_other(struct other *p)
{
    p->number = 1; // PAIR c f h i
}
__attribute__((noinline)) static void as_either(struct either *p)
{
    p->is.text[16] = 1; // PAIR d g i j
}

static void *thread(void *block)
{
    as_header(block);
    as_message(block);
    as_other(block);
    as_either(block);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t[2];
    char *block = malloc((size_t)argc * 64);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, thread, block);
    return 0;
}
