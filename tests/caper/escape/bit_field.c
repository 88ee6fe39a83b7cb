// A field of 48 bits, beside one of 16, in a private block that is stored afterwards.
// RULE: store,cast,transitive,tags
#include "escape.h"

struct box {
    uint64_t kind : 16, address : 48;
};
static struct box *shared;

static void publish(struct node *n)
{
    struct box *box = (struct box *)calloc(2, sizeof(*box));

    box[1].kind = (uint16_t)unknown(77);
    box[1].address = (uintptr_t)n;
    shared = box;
}

static struct node *receive(void)
{
    return (struct node *)(uintptr_t)shared[1].address;
}
