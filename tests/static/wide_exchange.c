// FLAGS -O1 -mcx16
// A pointer and a count are exchanged as one: 128 bits, put together and taken apart by shifts.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};
struct head {
    struct node *first;
    uint64_t count;
};
static _Atomic struct head top;

static void push(struct node *n)
{
    struct head old = top, new;
    do {
        n->next = old.first; // PAIR b
        new = (struct head){n, old.count + 1};
    } while (!__c11_atomic_compare_exchange_strong(&top, &old, new, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
}

static void *thread(void *arg)
{
    push(malloc(sizeof(struct node)));
    struct head now = top;
    now.first->value++;     // PAIR a
    return now.first->next; // PAIR b
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
