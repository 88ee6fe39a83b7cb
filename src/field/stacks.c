/*
 * stacks.c - alternate signal stacks on which not even the kernel's own part of a handler's frame fits. The
 * program does no harm to itself as long as no handler runs there; but ours would, at a breakpoint. So the
 * kernel is not told of them. The handlers of the program then run on the thread's usual stack, instead of
 * ending the process.
 */
#include <signal.h>
#include <sys/auxv.h>

#include "field/field.h"
#include "field/instead.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

static __thread stack_t small; /* what this thread believes it has; of size 0: what the kernel says */

/* 0: the kernel does not say; it is older than processors with large registers. */
static bool is_too_small(const stack_t *s)
{
    return !(s->ss_flags & SS_DISABLE) && s->ss_size < getauxval(AT_MINSIGSTKSZ);
}

INSTEAD_OF(int, sigaltstack, (const stack_t *restrict new, stack_t *restrict old))
{
    const stack_t none = {.ss_flags = SS_DISABLE}, before = small;
    stack_t wanted = none;
    if (!__atomic_load_n(&dh_field_control, __ATOMIC_ACQUIRE))
        return NEXT(sigaltstack)(new, old);
    if (new)
        wanted = *new; /* it may also be *old */
    int rc = NEXT(sigaltstack)(new, old);
    if (rc != 0)
        return rc;
    if (old && before.ss_size)
        *old = before;
    if (new)
        small = is_too_small(&wanted) ? wanted : (stack_t){0};
    if (new && small.ss_size)
        NEXT(sigaltstack)(&none, NULL);
    return 0;
}
