// Code that was not compiled by us gets it a byte at a time.
// RULE: piece
// PLAIN: bytes.c
#include "escape.h"

void plain_keep_byte(int i, unsigned char byte);
void *plain_get_bytes(void);

static void publish(struct node *n)
{
    struct node **box = (struct node **)malloc(sizeof(*box));
    const unsigned char *bytes = (const unsigned char *)box;

    *box = n;
    for (int i = 0; i < (int)unknown(sizeof(*box)); i++)
        plain_keep_byte(i, bytes[i]);
}

static struct node *receive(void)
{
    return (struct node *)plain_get_bytes();
}
