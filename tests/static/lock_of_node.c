// FLAGS -O0
// A list whose nodes have a lock each. What is locked and what is accessed is the same node where the pointer is.
#include <pthread.h>
#include <stdlib.h>

struct node {
    struct node *next;
    pthread_mutex_t lock;
    int kept, loose;
} *list;

static void *thread(void *arg)
{
    struct node *last = list;
    for (struct node *n = list; n; n = n->next) {
        pthread_mutex_lock(&n->lock);
        n->kept++;     // NO PAIR
        last->loose++; // PAIR a:sound
        pthread_mutex_unlock(&n->lock);
        last = n;
    }
    return arg;
}

int main(void)
{
    pthread_t t, u;
    for (int i = 0; i < 4; i++) {
        struct node *n = calloc(1, sizeof *n);
        pthread_mutex_init(&n->lock, NULL);
        n->next = list;
        list = n;
    }
    pthread_create(&t, NULL, thread, NULL);
    pthread_create(&u, NULL, thread, NULL);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
