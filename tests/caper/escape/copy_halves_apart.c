// memcpy of the halves to different words of a private block, which is stored afterwards.
// RULE: copy,piece
#include "escape.h"

static char *shared;

static void publish(struct node *n)
{
    struct node **box = (struct node **)malloc(sizeof(*box));
    char *apart = (char *)calloc(1, 64);

    *box = n;
    memcpy(apart + unknown(8), box, (size_t)unknown(4));
    memcpy(apart + unknown(36), (char *)box + unknown(4), (size_t)unknown(4));
    shared = apart;
}

static struct node *receive(void)
{
    struct node *n;

    memcpy(&n, shared + 8, 4);
    memcpy((char *)&n + 4, shared + 36, 4);
    return n;
}
