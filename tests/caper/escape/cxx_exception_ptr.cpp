// A std::exception_ptr carries it to the other thread.
// RULE: store
#include <exception>

#include "escape.h"

static std::exception_ptr shared;

NOINLINE void raise(struct node *n)
{
    throw n;
}

static void publish(struct node *n)
{
    try {
        raise(n);
    } catch (...) {
        shared = std::current_exception();
    }
}

static struct node *receive(void)
{
    try {
        std::rethrow_exception(shared);
    } catch (struct node *n) {
        return n;
    }
}
