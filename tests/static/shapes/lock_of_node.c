// Nodes with a lock each: of a list, of an array that a pointer walks over in both directions, of code outside the program.
// WRONG 1: the walk goes on before the node is used
// WRONG 2: the array's element is used after the pointer was moved
// WRONG 3: the other function is asked again
#include "shapes.h"

struct node {
    struct node *next;
    pthread_mutex_t lock;
    int value;
} *head, nodes[10];
struct node *elsewhere(void);

static void *thread(void *arg)
{
    for (struct node *n = head; n; n = n->next) {
        pthread_mutex_lock(&n->lock);
        W1(struct node *last = n; n = n->next ? n->next : n;, )
        n->value++; // HERE
        pthread_mutex_unlock(&W1(last, n)->lock);
    }
    for (struct node *n = nodes; n < nodes + 9; n++) {
        pthread_mutex_lock(&n->lock);
        n[W2(1, 0)].value++; // HERE
        pthread_mutex_unlock(&n->lock);
    }
    for (struct node *n = &nodes[9]; n >= nodes; n--) {
        pthread_mutex_lock(&n->lock);
        n->value--; // HERE
        pthread_mutex_unlock(&n->lock);
    }
    struct node *other = elsewhere(), *same = other;
    pthread_mutex_lock(&other->lock);
    W3(other = elsewhere();, )
    other->value = 1; // HERE
    pthread_mutex_unlock(&same->lock);
    return arg;
}

int main(void)
{
    for (int i = 0; i < 10; i++) {
        struct node *n = calloc(1, sizeof *n);
        pthread_mutex_init(&n->lock, NULL);
        pthread_mutex_init(&nodes[i].lock, NULL);
        n->next = head;
        head = n;
    }
    RUN_TWICE(thread, NULL);
    return 0;
}
