// Walking a list ends where a pointer says; that is no waiting loop either.
#include <pthread.h>
#include <stdlib.h>

struct node {
    struct node *next;
};
struct node *head;

static void *thread(void *arg)
{
    long n = 0;
    for (struct node *p = head; p; p = p->next) // PAIR a
        n++;
    return (void *)n;
}

int main(void)
{
    pthread_t t;
    struct node *n = calloc(1, sizeof *n);
    if (!n)
        return 1;
    head = n; // NO PAIR
    pthread_create(&t, NULL, thread, NULL);
    n->next = calloc(1, sizeof *n); // PAIR a
    pthread_join(t, NULL);
    return 0;
}
