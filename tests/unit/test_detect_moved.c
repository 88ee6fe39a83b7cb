/*
 * test_detect_moved.c - in every detector the past of memory goes where the memory goes.
 *
 * A random trace is run as it is and with its variables moved about; what is racy must stay the same, event for
 * event. Of a copy both ends go on being used, one by the program and one by a thread that does nothing else.
 */
#include "unit/check.h"

#include <stdio.h>
#include <string.h>

#include "traces/random.h"

enum { CELLS = 3, SEEDS = 300 };

static u32 dice(u64 *seed, u32 n)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)(*seed >> 33) % n;
}

static void put_range(struct kit_trace *t, u8 op, u32 thread, u32 to, u32 from)
{
    kit_add(t, (struct dh_event){.op = op, .thread = thread, .target = to, .site = from, .size = 1});
}

/* Every variable has two places and changes between them now and then: moved, or copied and its old place made
 * anew. Sometimes it passes a third one on its way. */
static void move_about(struct kit_trace *to, const struct kit_trace *from, u64 seed)
{
    u32 place[CELLS];
    *to = (struct kit_trace){0};
    for (u32 c = 0; c < CELLS; c++)
        place[c] = c;
    for (u32 i = 0; i < from->n; i++) {
        struct dh_event e = from->events[i];
        u32 c = dice(&seed, CELLS), next = place[c] < CELLS ? CELLS + c : c;
        u32 how = dice(&seed, 12);
        if (how < 2 && i > 3) {
            put_range(to, DH_OP_RANGE_MOVE, e.thread, next, place[c]);
        } else if (how == 2 && i > 3) {
            put_range(to, DH_OP_RANGE_COPY, e.thread, next, place[c]);
            put_range(to, DH_OP_RANGE_NEW, e.thread, place[c], 0);
        } else if (how == 3 && i > 3) {
            put_range(to, DH_OP_RANGE_COPY, e.thread, 2 * CELLS + c, place[c]);
            put_range(to, DH_OP_RANGE_NEW, e.thread, place[c], 0);
            put_range(to, DH_OP_RANGE_MOVE, e.thread, next, 2 * CELLS + c);
        } else {
            next = place[c];
        }
        place[c] = next;
        if (dh_event_is_access(&e))
            e.target = place[e.target];
        kit_add(to, e);
    }
}

/* When half of the trace is over, every variable is copied. Another thread reads one end, the program goes on with the
 * other. Without `copied` that thread reads variables of its own. */
static void copy_all(struct kit_trace *to, const struct kit_trace *from, u64 seed, bool copied)
{
    u32 place[CELLS], other = from->threads;
    *to = (struct kit_trace){0};
    for (u32 c = 0; c < CELLS; c++)
        place[c] = c;
    for (u32 i = 0; i < from->n; i++) {
        struct dh_event e = from->events[i];
        if (i == from->n / 2)
            kit_add(to, (struct dh_event){.op = DH_OP_FORK, .thread = e.thread, .target = other});
        for (u32 c = 0; c < CELLS && i == from->n / 2; c++) {
            if (copied) {
                put_range(to, DH_OP_RANGE_COPY, e.thread, CELLS + c, c);
                place[c] = CELLS * dice(&seed, 2) + c;
            }
            kit_add(to, (struct dh_event){.op = DH_OP_READ,
                                          .thread = other,
                                          .target = copied ? 2 * c + CELLS - place[c] : CELLS + c});
        }
        if (dh_event_is_access(&e))
            e.target = place[e.target];
        kit_add(to, e);
    }
}

/* Are the same accesses racy? Those of the thread `but` do not count. */
static bool alike(const struct kit_trace *a, const u8 *racy_a, const struct kit_trace *b, const u8 *racy_b,
                  u32 but)
{
    u32 i = 0;
    for (u32 j = 0; j < b->n; j++) {
        if (!dh_event_is_access(&b->events[j]) || b->events[j].thread == but)
            continue;
        while (!dh_event_is_access(&a->events[i]) || a->events[i].thread == but)
            i++;
        if (racy_a[i++] != racy_b[j])
            return false;
    }
    return true;
}

static void compare(const struct kit_trace *plain, const struct kit_trace *moved, u64 seed, u32 but,
                    const char *what)
{
    for (u32 d = 0; d < dh_n_detectors; d++) {
        struct kit_said a = kit_run(plain, dh_detectors[d]), b = kit_run(moved, dh_detectors[d]);
        if (a.error || b.error || !alike(plain, a.events, moved, b.events, but)) {
            kit_print(plain);
            kit_print(moved);
            fail_msg("%s, seed %llu: %s differs", what, (unsigned long long)seed, dh_detectors[d]->name);
        }
        kit_said_done(&a);
        kit_said_done(&b);
    }
}

static void check_random(const struct random_options *options)
{
    for (u64 seed = 1; seed <= SEEDS; seed++) {
        struct kit_trace plain = {0}, moved, apart;
        random_trace(&plain, seed, options);
        move_about(&moved, &plain, seed);
        compare(&plain, &moved, seed, UINT32_MAX, "moved");
        kit_done(&moved);
        copy_all(&apart, &plain, seed, false);
        copy_all(&moved, &plain, seed, true);
        compare(&apart, &moved, seed, plain.threads, "copied");
        kit_done(&apart);
        kit_done(&moved);
        kit_done(&plain);
    }
}

static void check_plain(void **state)
{
    (void)state;
    check_random(&(struct random_options){.events = 60, .threads = 4, .locks = 2, .cells = CELLS});
}

static void check_rich(void **state)
{
    (void)state;
    check_random(
        &(struct random_options){.events = 60, .threads = 4, .locks = 3, .cells = CELLS, .rich = true});
}

static void check_atomics(void **state)
{
    (void)state;
    check_random(
        &(struct random_options){.events = 50, .threads = 3, .locks = 2, .cells = CELLS, .atomics = true});
}

/* Nobody reports where a pool hands memory from thread to thread and says so. */
static void check_pool(void **state)
{
    (void)state;
    struct kit_trace t = {0};
    for (u32 u = 1; u < 4; u++)
        kit_add(&t, (struct dh_event){.op = DH_OP_FORK, .thread = 0, .target = u});
    for (u32 round = 0; round < 12; round++) {
        u32 u = 1 + round % 3;
        put_range(&t, DH_OP_RANGE_NEW, u, 0, 0);
        kit_add(&t, (struct dh_event){.op = DH_OP_WRITE, .thread = u, .target = 0, .site = 1});
        kit_add(&t, (struct dh_event){.op = DH_OP_READ, .thread = u, .target = 0, .site = 2});
    }
    for (u32 d = 0; d < dh_n_detectors; d++) {
        struct kit_said s = kit_run(&t, dh_detectors[d]);
        assert_int_equal(s.error, 0);
        assert_int_equal(s.n_events, 0);
        kit_said_done(&s);
    }
    kit_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_plain),
        cmocka_unit_test(check_rich),
        cmocka_unit_test(check_atomics),
        cmocka_unit_test(check_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
