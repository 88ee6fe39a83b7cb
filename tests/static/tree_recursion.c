// A tree, walked by a function that calls itself.
#include <pthread.h>
#include <stdlib.h>

struct tree {
    struct tree *left, *right;
    int value;
};

__attribute__((noinline)) static struct tree *grow(int depth)
{
    struct tree *t = malloc(sizeof *t);
    if (!t)
        abort();
    t->value = depth;                          // NO PAIR
    t->left = depth ? grow(depth - 1) : NULL;  // NO PAIR
    t->right = depth ? grow(depth - 1) : NULL; // NO PAIR
    return t;
}

__attribute__((noinline)) static int count(struct tree *t)
{
    if (!t)
        return 0;
    t->value++;                                  // PAIR a
    return 1 + count(t->left) + count(t->right); // NO PAIR
}

static void *thread(void *arg)
{
    return (void *)(long)count(arg);
}

int main(void)
{
    pthread_t t;
    struct tree *root = grow(5);
    pthread_create(&t, NULL, thread, root);
    int n = count(root);
    pthread_join(t, NULL);
    return n;
}
