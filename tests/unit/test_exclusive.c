/*
 * test_exclusive.c - blocks that one class has to itself: who has them, and that the owner stores nothing more once
 * another class has marked the block.
 */
#include "runtime/shadow/exclusive.h"

#include <pthread.h>
#include <sched.h>

#include "base/sys.h"
#include "runtime/shadow/region.h"
#include "unit/check.h"

#define BLOCK ((uptr)1 << DH_TOUCHED_SHIFT)
#define FIRST (5000 * BLOCK)
enum { OWNER = 0, OTHER = 5, BLOCKS = 3000, WARM = 20, LONG = 2000 };

_Thread_local struct dh_hot __dh_hot = DH_HOT_NONE;

bool dh_region_get_plane(uptr addr, u32 plane)
{
    (void)addr, (void)plane;
    return true;
}

void dh_runtime_lose_membarrier(void)
{
    fail_msg("no membarrier");
}

void dh_runtime_count(enum dh_counter c)
{
    fail_msg("counter %d", (int)c);
}

static bool mine(u32 class, uptr addr)
{
    bool is = dh_exclusive_is(dh_exclusive_begin(class, addr), class);
    dh_exclusive_end(class);
    return is;
}

static void one_class_has_it(void **state)
{
    (void)state;
    if (!dh_sys_membarrier_init())
        skip();
    uptr at = 100 * BLOCK;
    assert_false(mine(OWNER, at)); /* it has not marked it */
    dh_touched_note_within(at, DH_TOUCHED_BY_READ(OWNER));
    assert_true(mine(OWNER, at));
    dh_touched_note_within(at, DH_TOUCHED_BY_WRITE(OWNER));
    assert_true(mine(OWNER, at) && !mine(OTHER, at));
    dh_touched_note_within(at, DH_TOUCHED_BY_READ(OTHER));
    assert_false(mine(OWNER, at) || mine(OTHER, at));
    assert_true(dh_touched_mark(at) & DH_TOUCHED_SHARED);
    assert_false(mine(OTHER, at + BLOCK));
}

/* What the owner stores in a block: plain, as the engine's stores are. */
static volatile u64 stored[BLOCKS];
static volatile u32 at_work; /* the block that the owner is in */

static void *owner(void *unused)
{
    (void)unused;
    for (u32 i = 0; i < BLOCKS; i++) {
        bool still = true;
        u32 rounds = 0; /* of which many mean that the other thread has no processor */
        dh_touched_note_within(FIRST + i * BLOCK, DH_TOUCHED_BY_WRITE(OWNER));
        while (still) {
            still = dh_exclusive_is(dh_exclusive_begin(OWNER, FIRST + i * BLOCK), OWNER);
            if (still)
                stored[i]++;
            dh_exclusive_end(OWNER);
            at_work = i;
            if (++rounds % LONG == 0)
                sched_yield();
        }
    }
    return NULL;
}

static void owner_stops_at_once(void **state)
{
    (void)state;
    pthread_t t;
    u64 seen[BLOCKS];
    if (!dh_sys_membarrier_init())
        skip();
    assert_int_equal(pthread_create(&t, NULL, owner, NULL), 0);
    for (u32 i = 0; i < BLOCKS; i++) {
        while (at_work != i || stored[i] < WARM)
            sched_yield();
        dh_touched_note_within(FIRST + i * BLOCK, DH_TOUCHED_BY_READ(OTHER));
        seen[i] = stored[i];
    }
    pthread_join(t, NULL);
    for (u32 i = 0; i < BLOCKS; i++)
        assert_int_equal(stored[i], seen[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_class_has_it),
        cmocka_unit_test(owner_stops_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
