// What a thread allocates and shows nobody is its own, in each instance.
#include <pthread.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};

static void *thread(void *arg)
{
    struct node *head = NULL;
    int sum = 0;
    for (int i = 0; i < 5; i++) {
        struct node *n = malloc(sizeof *n);
        if (!n)
            abort();
        n->next = head; // NO PAIR
        n->value = i;   // NO PAIR
        head = n;
    }
    for (struct node *n = head; n; n = n->next) // NO PAIR
        sum += n->value;                        // NO PAIR
    return (void *)(long)sum;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, thread, NULL);
    pthread_create(&u, NULL, thread, NULL);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
