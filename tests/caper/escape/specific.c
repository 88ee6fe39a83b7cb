// Thread-specific data, which its destructor stores in a variable.
#define OWN_FRAME
#include "escape.h"

static struct node *shared;
static pthread_key_t key;

static void at_end(void *value)
{
    struct node *n = (struct node *)value;

    shared = n;
    mark();
    n->value = 2; // ESCAPED
}

THREAD(owner)
{
    pthread_setspecific(key, fresh());
    return NULL;
}

THREAD(other)
{
    after(1);
    MUST(shared->seal == SEAL); // ESCAPED
    shared->value = 3;          // ESCAPED
    return NULL;
}

int main(void)
{
    pthread_key_create(&key, at_end);
    both(owner, other);
    return 0;
}
