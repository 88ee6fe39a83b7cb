// Atomic operations that race with plain accesses are not made either: load, store, exchange, addition, and a
// compare-exchange that finds a plain write. Those that an acquire orders are no race.
// OPTIONS: on_race=exception
#include <setjmp.h>
#include <stdatomic.h>

#include <deadheat/race.h>

#include "invisible.h"

static union {
    int plain;
    _Atomic int atomic;
} a, b, c, d, e, f;
static int data;
static _Atomic int ready;
static int raised, late;
static jmp_buf back;

static enum dh_race_action on_race(const struct dh_race_record *race, void *arg)
{
    (void)arg;
    MUST(race->second.atomic && !race->first.atomic);
    raised++;
    late += race->late;
    longjmp(back, 1);
}

THREAD(first)
{
    data = 1;
    f.plain = 1; /* ordered by the acquire of the next value */
    atomic_store_explicit(&f.atomic, 2, memory_order_release);
    atomic_store_explicit(&ready, 1, memory_order_release);
    a.plain = 1;  // RACE a:write
    b.plain = 1;  // RACE b:write
    c.plain = 1;  // RACE c:write
    use(d.plain); // RACE d:read
    e.plain = 1;  // RACE e:write
    mark();
    return NULL;
}

THREAD(second)
{
    int seen = 7, expected = 1;
    after(1);
    MUST(atomic_load_explicit(&f.atomic, memory_order_acquire) == 2);
    while (atomic_fetch_or_explicit(&ready, 0, memory_order_acq_rel) == 0)
        ;
    use(data);
    if (setjmp(back) == 0) {
        seen = atomic_load(&a.atomic); // RACE a:read
        abort();
    }
    if (setjmp(back) == 0) {
        atomic_store(&b.atomic, 2); // RACE b:write
        abort();
    }
    if (setjmp(back) == 0) {
        seen = atomic_exchange(&c.atomic, 2); // RACE c:write
        abort();
    }
    if (setjmp(back) == 0) {
        atomic_fetch_add(&d.atomic, 2); // RACE d:write
        abort();
    }
    if (setjmp(back) == 0) {
        atomic_compare_exchange_strong(&e.atomic, &expected, 2); // RACE e:read
        abort();
    }
    MUST(seen == 7);
    return NULL;
}

int main(void)
{
    dh_on_race(on_race, NULL);
    both(first, second);
    MUST(raised == 5 && late == 0);
    MUST(a.plain == 1 && b.plain == 1 && c.plain == 1 && d.plain == 0 && e.plain == 1);
    return 0;
}
