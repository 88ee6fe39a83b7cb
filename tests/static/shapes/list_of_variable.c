// Lists that hang from variables, with a lock each for the list and for what is in it; nodes are written before they are shown.
// WRONG 1: a node is written after it was shown
// WRONG 2: the list is changed without its lock
// WRONG 3: the two lists are changed under one lock each, and one node goes to both
// WRONG 4: what one list leads to is accessed under the lock of the other
// WRONG 5: a node is shown by an atomic store that orders nothing
// WRONG 6: the function that sets up a node shows it
#include "shapes.h"

struct node {
    struct node *next;
    int value;
} *odd, *even, *shown;
pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER, odd_lock = PTHREAD_MUTEX_INITIALIZER,
                even_lock = PTHREAD_MUTEX_INITIALIZER;

static void set_up(struct node *n, int value)
{
    W6(__atomic_store_n(&shown, n, __ATOMIC_RELAXED), );
    n->value = value; // HERE
    n->next = NULL;
}

static void insert(struct node *n, struct node *list)
{
    W2(, pthread_mutex_lock(&list_lock));
    n->next = list->next; // HERE
    list->next = n;       // HERE
    W2(, pthread_mutex_unlock(&list_lock));
}

static struct node *look_up(struct node *list)
{
    pthread_mutex_lock(&list_lock);
    struct node *n = list;
    while (n->next && input())
        n = n->next;
    pthread_mutex_unlock(&list_lock);
    return n;
}

static void *fill(void *arg)
{
    struct node *n = malloc(sizeof *n);
    set_up(n, input());
    W5(__atomic_store_n(&shown, n, __ATOMIC_RELAXED), );
    insert(n, input() ? odd : even);
    W3(insert(n, odd), );
    W1(n->value = 3, ); // HERE
    return arg;
}

static void *use_odd(void *arg)
{
    struct node *n = look_up(odd);
    pthread_mutex_lock(&odd_lock);
    n->value++; // HERE
    pthread_mutex_unlock(&odd_lock);
    W5(if ((n = __atomic_load_n(&shown, __ATOMIC_RELAXED))) n->value = 0, ); // HERE
    W6(if ((n = __atomic_load_n(&shown, __ATOMIC_RELAXED))) n->value = 0, ); // HERE
    return arg;
}

static void *use_even(void *arg)
{
    struct node *n = look_up(W4(odd, even));
    pthread_mutex_lock(&even_lock);
    n->value++; // HERE
    pthread_mutex_unlock(&even_lock);
    return arg;
}

int main(void)
{
    pthread_t a, b, c, d;
    odd = malloc(sizeof *odd);
    set_up(odd, 1);
    even = malloc(sizeof *even);
    set_up(even, 2);
    pthread_create(&a, NULL, fill, NULL);
    pthread_create(&b, NULL, fill, NULL);
    pthread_create(&c, NULL, use_odd, NULL);
    pthread_create(&d, NULL, use_even, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return pthread_join(d, NULL);
}
