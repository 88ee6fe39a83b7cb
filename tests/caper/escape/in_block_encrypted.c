// Encrypted in a private block, which is stored afterwards: a scan cannot see it.
// RULE: cast
#include "escape.h"

static uintptr_t *shared;

static void publish(struct node *n)
{
    uintptr_t *box = (uintptr_t *)calloc(4, sizeof(*box));

    box[1] = (uintptr_t)n ^ 0x5555aaaa5555aaaa;
    shared = box;
}

static struct node *receive(void)
{
    return (struct node *)(shared[1] ^ 0x5555aaaa5555aaaa);
}
