// A copy in a function that is called through a pointer, always with the length of a text: it moves no pointers.
#include <pthread.h>
#include <string.h>

struct item {
    int *number;
    char text[24];
};

struct out {
    void (*put)(void *to, const void *from, size_t n);
    void (*clear)(void *what, int with, size_t n); /* of another type */
};

static void put(void *to, const void *from, size_t n)
{
    memcpy(to, from, n);
}

static void clear(void *what, int with, size_t n)
{
    memset(what, with, n);
}

int x, y;
static struct item source = {&x, "one"}, target = {&y, ""};
static struct out out = {put, clear};
struct out *volatile chosen = &out;

static void *thread(void *arg)
{
    *target.number = 1; // PAIR a
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t;
    chosen->clear(target.text, 0, sizeof target.text);
    chosen->put(&target, &source, strlen(argv[0]));
    pthread_create(&t, NULL, thread, NULL);
    x = 2; // NO PAIR
    y = 2; // PAIR a
    return pthread_join(t, NULL);
}
