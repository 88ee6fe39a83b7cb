// A private block with a pointer in it grows and moves; then the new one is stored.
// RULE: realloc
#include "escape.h"

static struct node **shared;

static void publish(struct node *n)
{
    struct node **box = (struct node **)calloc(2, sizeof(*box));
    void *wall = (void *)unknown((long)malloc(16)); /* behind it, so that it has to move */

    box[1] = n;
    box = (struct node **)realloc(box, 5000 * sizeof(*box));
    MUST(box && wall);
    box[0] = NULL;
    shared = box;
}

static struct node *receive(void)
{
    return shared[1];
}
