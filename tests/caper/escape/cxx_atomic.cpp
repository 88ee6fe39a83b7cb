// A std::atomic.
// RULE: atomic
#include <atomic>

#include "escape.h"

static std::atomic<struct node *> shared;

static void publish(struct node *n)
{
    shared.store(n, std::memory_order_relaxed);
}

static struct node *receive(void)
{
    return shared.load(std::memory_order_relaxed);
}
