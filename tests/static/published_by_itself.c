// A block that holds its own address is shown by what is read from it.
#include <pthread.h>
#include <stdlib.h>

struct node {
    struct node *self;
    int value, other;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *shown;

__attribute__((noinline)) static void set_up(struct node *n)
{
    n->self = n;
    n->other = 1; // NO PAIR
}

static void *thread(void *arg)
{
    pthread_mutex_lock(&lock);
    struct node *n = shown; // NO PAIR
    pthread_mutex_unlock(&lock);
    if (n) {
        n->value++;                    // PAIR a b
        return (void *)(long)n->other; // NO PAIR
    }
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    struct node *n = malloc(sizeof *n);
    if (!n)
        abort();
    set_up(n);
    pthread_mutex_lock(&lock);
    shown = *(struct node *volatile *)&n->self; // NO PAIR
    pthread_mutex_unlock(&lock);
    n->value = 1; // PAIR a
    struct node *m = malloc(sizeof *m);
    if (!m)
        abort();
    m->self = m;
    pthread_mutex_lock(&lock);
    shown = *(struct node *volatile *)&m->self; // NO PAIR
    pthread_mutex_unlock(&lock);
    m->value = 2; // PAIR b
    return 0;
}
