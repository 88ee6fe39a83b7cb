// Each half of the pointer is the count of an eventfd.
// RULE: piece
#include <sys/eventfd.h>

#include "escape.h"

static int counts[2];

__attribute__((constructor)) static void make_counts(void)
{
    for (int i = 0; i < 2; i++) {
        counts[i] = eventfd(0, 0);
        MUST(counts[i] >= 0);
    }
}

NOINLINE void count(const uint32_t *halves)
{
    for (int i = 0; i < 2; i++)
        MUST(eventfd_write(counts[i], halves[i]) == 0);
}

static void publish(struct node *n)
{
    struct node **box = (struct node **)malloc(sizeof(*box));

    MUST(box);
    *box = n;
    count((const uint32_t *)box);
}

static struct node *receive(void)
{
    eventfd_t lower, upper;

    MUST(eventfd_read(counts[0], &lower) == 0 && eventfd_read(counts[1], &upper) == 0);
    return (struct node *)(uintptr_t)(upper << 32 | lower);
}
