// Memory that the program hands out itself has no type, and two kinds of structures come from it. What is declared as
// one of them is not the other, whatever else may be in the same place; but what nothing is declared of may be anything.
// FLAGS -O2 -fno-strict-aliasing
#include <pthread.h>
#include <stdlib.h>

struct session {
    long user;
    unsigned char open;
    unsigned char closing;
    long bytes;
};
struct entry {
    struct entry *next;
    unsigned char used;
    unsigned char large;
    long size;
};

__attribute__((noinline)) static void serve(struct session *s)
{
    s->open = 1;    // PAIR a c:members i
    s->closing = 1; // PAIR b d:members
}

__attribute__((noinline)) static void store(struct entry *e)
{
    e->used = 1;  // PAIR c:members e g
    e->large = 1; // PAIR d:members f
}

__attribute__((noinline)) static void fill(char *text)
{
    text[8] = 1; // PAIR g h i
}

static void *first(void *arg)
{
    serve(arg);
    return NULL;
}

static void *second(void *arg)
{
    store(arg);
    return NULL;
}

static void *third(void *arg)
{
    fill(arg);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t[6];
    void *block = malloc((size_t)argc * 4096);
    for (int i = 0; i < 2; i++) {
        pthread_create(&t[i], NULL, first, block);
        pthread_create(&t[i + 2], NULL, second, block);
        pthread_create(&t[i + 4], NULL, third, block);
    }
    return 0;
}
