// A function that copies is given to code outside the program, which may call it with any length.
#include <pthread.h>
#include <string.h>

struct item {
    int *number;
    char text[24];
};

void keep(void (*put)(void *, const void *, size_t), struct item *to, struct item *from);

static void put(void *to, const void *from, size_t n)
{
    memcpy(to, from, n); // PAIR c:callbacks d:callbacks
}

int x, y;
static struct item source = {&x, "one"}, target = {&y, ""};

static void *thread(void *arg)
{
    *target.number = 1; // PAIR a b d
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t;
    keep(put, &target, &source);
    put(&target, &source, strlen(argv[0]));
    pthread_create(&t, NULL, thread, NULL);
    x = 2; // PAIR b
    y = 2; // PAIR a
    return pthread_join(t, NULL);
}
