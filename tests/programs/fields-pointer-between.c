// A pointer is read from a structure and followed, and another field of the structure read: what is behind the pointer is
// checked by itself, after the pointer is known.
#include "invisible.h"

struct node {
    struct node *next;
    long key;
    int value;
};
static struct node last = {.key = 2}, head = {.next = &last, .key = 1};

THREAD(first)
{
    struct node *p = &head;
    long key = p->key;
    int value = p->next->value;  // RACE v:read
    use(key + value + p->value); // RACE h:read
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    last.value = 1; // RACE v:write
    head.value = 2; // RACE h:write
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
