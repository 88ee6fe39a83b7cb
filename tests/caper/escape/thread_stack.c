// The stack of a thread is a private block: its local variables are in it.
// RULE: call
#define OWN_FRAME
#define NO_PRIVATE
#include "escape.h"

enum { BYTES = 1 << 20 };
static struct node *shared;

THREAD(owner)
{
    struct node local = {.seal = SEAL};

    shared = &local;
    mark();
    local.value = 2; // ESCAPED
    after(2);
    return NULL;
}

THREAD(other)
{
    after(1);
    MUST(shared->seal == SEAL);
    shared->value = 3; // ESCAPED
    mark();
    return NULL;
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_t a, b;
    void *stack = aligned_alloc(4096, BYTES);

    MUST(stack && pthread_attr_init(&attributes) == 0 &&
         pthread_attr_setstack(&attributes, stack, BYTES) == 0);
    MUST(pthread_create(&a, &attributes, owner, NULL) == 0);
    b = spawn(other, NULL);
    join(a);
    join(b);
    return 0;
}
