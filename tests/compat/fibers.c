// Fibers on ucontext: each is a thread of its own, a switch orders, and one that is told not to does not. Two kernel
// threads: a fiber goes on where another left it.
// FLAGS: -D_GNU_SOURCE
#include <sanitizer/tsan_interface.h>
#include <stdlib.h>
#include <ucontext.h>

#include "../programs/invisible.h"

struct fiber {
    ucontext_t context;
    void *detector; /* what ThreadSanitizer knows it by */
};

static struct fiber home, away, worker, loose;
static int handed, unhanded, moved;

static void go(struct fiber *from, struct fiber *to, unsigned flags)
{
    __tsan_switch_to_fiber(to->detector, flags);
    swapcontext(&from->context, &to->context);
}

static void work(void)
{
    handed++;
    moved = 1;
    go(&worker, &home, 0);
    moved++; /* by another kernel thread, and still the same fiber */
    go(&worker, &away, 0);
}

static void work_loosely(void)
{
    use(unhanded); // RACE u:read
    go(&loose, &home, __tsan_switch_to_fiber_no_sync);
}

static void make(struct fiber *f, void (*body)(void), const char *name)
{
    const size_t size = 256 << 10;

    getcontext(&f->context);
    f->context.uc_stack.ss_sp = malloc(size);
    f->context.uc_stack.ss_size = size;
    makecontext(&f->context, body, 0);
    f->detector = __tsan_create_fiber(0);
    __tsan_set_fiber_name(f->detector, name);
}

THREAD(other)
{
    away.detector = __tsan_get_current_fiber();
    go(&away, &worker, 0);
    return NULL;
}

int main(void)
{
    home.detector = __tsan_get_current_fiber();
    make(&worker, work, "worker");
    make(&loose, work_loosely, "loose");
    handed = 1;
    unhanded = 1; // RACE u:write
    go(&home, &worker, 0);
    MUST(handed == 2);
    go(&home, &loose, __tsan_switch_to_fiber_no_sync);
    join(spawn(other, NULL));
    MUST(moved == 2);
    __tsan_destroy_fiber(worker.detector);
    __tsan_destroy_fiber(loose.detector);
    free(worker.context.uc_stack.ss_sp);
    free(loose.context.uc_stack.ss_sp);
    return 0;
}
