// The count of an eventfd: the address is an argument that is a number.
// RULE: cast
#include <sys/eventfd.h>

#include "escape.h"

static int counter;

__attribute__((constructor)) static void open_counter(void)
{
    counter = eventfd(0, 0);
    MUST(counter >= 0);
}

static void publish(struct node *n)
{
    MUST(eventfd_write(counter, (eventfd_t)(uintptr_t)n) == 0);
}

static struct node *receive(void)
{
    eventfd_t n;

    MUST(eventfd_read(counter, &n) == 0);
    return (struct node *)(uintptr_t)n;
}
