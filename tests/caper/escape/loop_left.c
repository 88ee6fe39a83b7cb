// Loops that are left by a jump, by a return, by the end of the thread, and one that is not left before the program ends.
// FLAGS: -O2
#define OWN_FRAME
#define NO_PRIVATE
#include <setjmp.h>

#include "escape.h"

static struct node *shared;
static jmp_buf out;

NOINLINE void by_jump(struct node *n)
{
    for (long i = 0;; i++) {
        n->value += i; // ESCAPED
        if (unknown(i) == 3)
            longjmp(out, 1);
    }
}

NOINLINE long by_return(const volatile struct node *n)
{
    for (long i = 0;; i++) {
        long more = n->more; // ESCAPED
        if (unknown(i + more) == 3)
            return i;
    }
}

NOINLINE void by_end(struct node *n)
{
    for (long i = 0;; i++) {
        n->more += i; // ESCAPED
        if (unknown(i) == 3)
            pthread_exit(NULL);
    }
}

NOINLINE void not_left(volatile struct node *n)
{
    for (;;) {
        n->value += 1; // ESCAPED
        if (unknown(0))
            return;
    }
}

THREAD(last)
{
    not_left(shared);
    return NULL;
}

THREAD(owner)
{
    struct node *n = fresh();

    n->more = 0;
    shared = n;
    mark();
    if (!setjmp(out))
        by_jump(n);
    use(by_return(n));
    by_end(n);
    return NULL;
}

THREAD(other)
{
    after(1);
    shared->value = 3; // ESCAPED
    shared->more = 0;  // ESCAPED
    return NULL;
}

int main(void)
{
    both(owner, other);
    hide((void **)&shared->value, NULL);
    spawn(last, NULL);
    spawn(last, NULL);
    while ((uintptr_t)seek((void **)&shared->value) < 2)
        ;
    return 0;
}
