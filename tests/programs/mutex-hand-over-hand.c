// Hand-over-hand locking along a list: the next node is locked before the previous is let go.
// NO RACE
#include "invisible.h"

struct node {
    pthread_mutex_t lock;
    long value;
    struct node *next;
} nodes[8];

THREAD(walker)
{
    for (int round = 0; round < 50; round++) {
        struct node *n = &nodes[0];

        pthread_mutex_lock(&n->lock);
        while (n) {
            struct node *next = n->next;

            n->value++;
            if (next)
                pthread_mutex_lock(&next->lock);
            pthread_mutex_unlock(&n->lock);
            n = next;
        }
    }
    return NULL;
}

int main(void)
{
    for (int i = 0; i < 8; i++) {
        pthread_mutex_init(&nodes[i].lock, NULL);
        nodes[i].next = i < 7 ? &nodes[i + 1] : NULL;
    }
    both(walker, walker);
    for (int i = 0; i < 8; i++)
        MUST(nodes[i].value == 100);
    return 0;
}
