// A list that two threads push to; one of them forgot the lock.
#include "invisible.h"

struct node {
    struct node *next;
    int value;
};

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
struct node *head;

static struct node *make(int value)
{
    struct node *n = malloc(sizeof(*n));

    n->value = value;
    return n;
}

THREAD(careful)
{
    struct node *n = make(1);

    pthread_mutex_lock(&m);
    n->next = head;
    head = n; // RACE a:write
    pthread_mutex_unlock(&m);
    mark();
    return NULL;
}

THREAD(careless)
{
    struct node *n;

    after(1);
    n = make(2);
    n->next = head; // RACE a:read
    return n;
}

int main(void)
{
    both(careful, careless);
    return 0;
}
