// A list under its lock.
#include <pthread.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};
struct {
    pthread_mutex_t lock;
    struct node *head;
    long length;
} list = {.lock = PTHREAD_MUTEX_INITIALIZER};

__attribute__((noinline)) static void push(int value)
{
    struct node *n = malloc(sizeof *n);
    if (!n)
        abort();
    n->value = value; // NO PAIR
    pthread_mutex_lock(&list.lock);
    n->next = list.head; // NO PAIR
    list.head = n;       // NO PAIR
    list.length++;       // NO PAIR
    pthread_mutex_unlock(&list.lock);
}

__attribute__((noinline)) static int pop(void)
{
    int value = -1;
    pthread_mutex_lock(&list.lock);
    struct node *n = list.head; // NO PAIR
    if (n) {
        list.head = n->next; // NO PAIR
        value = n->value;    // NO PAIR
        list.length--;       // NO PAIR
    }
    pthread_mutex_unlock(&list.lock);
    return value;
}

static void *thread(void *arg)
{
    push(1);
    return (void *)(long)pop();
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    push(2);
    pop();
    pthread_join(t, NULL);
    return 0;
}
