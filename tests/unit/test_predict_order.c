/*
 * test_predict_order.c - the searches below osr: the last section of a lock in a cut, what must come after an acquisition, the
 * lives of variables in reorderings, and the bound on the search.
 */
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

#include "detect/confirm.h"
#include "traces/predict_oracle.h"
#include "traces/predict_run.h"
#include "traces/random.h"

static void put(struct kit_trace *t, u8 op, u32 thread, u32 target)
{
    kit_add(t, (struct dh_event){.op = op, .thread = thread, .target = target, .site = t->n + 1});
}

static void put_range(struct kit_trace *t, u8 op, u32 thread, u32 target)
{
    kit_add(t, (struct dh_event){.op = op, .thread = thread, .target = target, .size = 1});
}

static struct dh_trace trace_of(const struct kit_trace *t)
{
    return (struct dh_trace){
        .events = t->events, .n = t->n, .threads = t->threads, .locks = t->locks, .cells = t->cells};
}

/* The same, one section after the other. */
static u32 last_after(const struct dh_predict *p, u32 section, const u32 *cut)
{
    u32 last = DH_NONE;
    for (u32 i = 0; i < p->n_sections; i++) {
        if (p->sections[i].lock == p->sections[section].lock &&
            p->sections[i].acq > p->sections[section].acq && dh_predict_in_cut(p, cut, p->sections[i].acq) &&
            (last == DH_NONE || p->sections[i].acq > p->sections[last].acq))
            last = i;
    }
    return last;
}

static void sections(void **state)
{
    (void)state;
    for (u64 seed = 1; seed <= 50; seed++) {
        struct kit_trace t = {0};
        struct dh_confirm c;
        predict_dense_trace(&t, seed, seed % 4 ? 400 : 1600, 1 + (u32)(seed % 8), 1 + (u32)(seed % 4), 4);
        struct dh_trace trace = trace_of(&t);
        assert_int_equal(dh_confirm_init(&c, &trace), 0);
        for (u64 round = 0; round < 50; round++) {
            u32 cut[8];
            for (u32 u = 0; u < t.threads; u++)
                cut[u] =
                    (u32)(dh_hash64(seed << 32 | round << 8 | u) % (c.p.first[u + 1] - c.p.first[u] + 1));
            dh_predict_hold(&c.p, cut);
            for (u32 u = 0; u < t.threads; u++) {
                u32 count = c.p.first[u + 1] - c.p.first[u];
                assert_int_equal(dh_predict_held(&c.p, u, cut[u]), dh_predict_holding_at(&c.p, u, cut[u]));
                assert_int_equal(dh_predict_held(&c.p, u, count), dh_predict_holding_at(&c.p, u, count));
            }
            u32 end = dh_predict_last(&c.p, cut);
            for (u32 s = 0; s < c.p.n_sections; s++) {
                u32 last = last_after(&c.p, s, cut);
                assert_int_equal(dh_predict_last_after(&c.p, s, cut), last);
                assert_int_equal(dh_predict_followed(&c.p, s, cut, end), last != DH_NONE);
            }
        }
        dh_confirm_done(&c);
        kit_done(&t);
    }
}

/* Thread 1 writes x inside a section of lock 0 that has nothing else in it; the other two use the lock `rounds` times
 * after that. Thread 2 reads x each time, before its section. To show these races the section of thread 1 must come last. */
static void put_reversals(struct kit_trace *t, u32 rounds)
{
    put(t, DH_OP_FORK, 0, 1);
    put(t, DH_OP_FORK, 0, 2);
    put(t, DH_OP_FORK, 0, 3);
    put(t, DH_OP_ACQUIRE, 1, 0);
    put(t, DH_OP_WRITE, 1, 0);
    put(t, DH_OP_RELEASE, 1, 0);
    for (u32 i = 0; i < rounds; i++) {
        put(t, DH_OP_ACQUIRE, 3, 0);
        put(t, DH_OP_WRITE, 3, 1);
        put(t, DH_OP_RELEASE, 3, 0);
        put(t, DH_OP_ACQUIRE, 2, 0);
        put(t, DH_OP_READ, 2, 1);
        put(t, DH_OP_RELEASE, 2, 0);
        put(t, DH_OP_WRITE, 2, 0);
    }
}

/* Each question is answered in a few steps, however much of the trace lies between the two accesses. */
static void short_search(void **state)
{
    (void)state;
    enum { ROUNDS = 3000 };
    struct kit_trace t = {0};
    struct dh_confirm c;
    put_reversals(&t, ROUNDS);
    struct dh_trace trace = trace_of(&t);
    assert_int_equal(dh_confirm_init(&c, &trace), 0);
    for (u32 j = 12; j < t.n; j += 7) {
        assert_int_equal(t.events[j].op, DH_OP_WRITE);
        assert_true(dh_osr_quick(&c.order, c.cut, 4, j));
        assert_int_equal(c.order.n, 1);
    }
    assert_true(c.order.reach.steps <= 4 * ROUNDS);
    assert_int_equal(dh_confirm_pair(&c, 4, t.n - 1), DH_OSR_RACE);
    assert_true(c.witness.length > 6 * ROUNDS);
    assert_int_equal(c.d.given_up, 0);
    dh_confirm_done(&c);
    struct predict_said s = predict_run(&t, "osr", 0);
    assert_int_equal(s.error, 0);
    assert_int_equal(s.n_racy, ROUNDS);
    predict_said_done(&s);
    kit_done(&t);
}

/* Beyond the bound a question stays open: no race, and it is counted. */
static void bounded_search(void **state)
{
    (void)state;
    struct kit_trace t = {0};
    struct dh_confirm c;
    put_reversals(&t, 10);
    struct dh_trace trace = trace_of(&t);
    assert_int_equal(dh_confirm_init(&c, &trace), 0);
    u64 limit = c.order.search.limit;
    c.order.reach.limit = c.order.search.limit = 1;
    c.order.search.steps = 1;
    assert_int_equal(dh_osr_pair(&c.order, c.cut, 4, t.n - 1), DH_OSR_OPEN);
    assert_int_equal(c.d.given_up, 1);
    c.order.reach.limit = 1000;
    assert_int_equal(dh_osr_pair(&c.order, c.cut, 4, t.n - 1), DH_OSR_RACE);
    assert_false(c.order.searched);
    c.order.reach.limit = 1;
    c.order.search.limit = limit; /* what the quick way leaves open the search may still decide */
    assert_int_equal(dh_osr_pair(&c.order, c.cut, 4, t.n - 1), DH_OSR_RACE);
    assert_true(c.order.searched);
    assert_int_equal(c.d.given_up, 1);
    dh_confirm_done(&c);
    kit_done(&t);
}

static u32 racy(const struct kit_trace *t, const char *name)
{
    struct predict_said s = predict_run(t, name, 0);
    u32 n = s.n_racy;
    assert_int_equal(s.error, 0);
    for (u32 i = 0; i < s.n; i++)
        assert_true(s.reports[i].witness);
    predict_said_done(&s);
    return n;
}

/* The sections must change places. Between them memory is freed: of another variable, of the one that the first section has
 * accessed, or of the one that is racing. Only in the first case it does not matter. */
static void lives(void **state)
{
    (void)state;
    for (u32 freed = 0; freed < 3; freed++) {
        struct kit_trace t = {0};
        put(&t, DH_OP_FORK, 0, 1);
        put(&t, DH_OP_WRITE, 0, 2);
        put(&t, DH_OP_ACQUIRE, 0, 0);
        put(&t, DH_OP_WRITE, 0, 1);
        put(&t, DH_OP_WRITE, 0, 0);
        put(&t, DH_OP_RELEASE, 0, 0);
        put(&t, DH_OP_ACQUIRE, 1, 0);
        put_range(&t, DH_OP_RANGE_FREE, 1, freed == 0 ? 2 : freed == 1 ? 1 : 0);
        put(&t, DH_OP_RELEASE, 1, 0);
        put(&t, DH_OP_WRITE, 1, 0);
        assert_int_equal(racy(&t, "syncp"), 0);
        assert_int_equal(racy(&t, "osr"), freed == 0);
        kit_done(&t);
    }
}

/* What is accessed after its life has ended, or before it has begun, is no reordering. */
static void checked_lives(void **state)
{
    (void)state;
    struct kit_trace t = {0};
    put(&t, DH_OP_FORK, 0, 1);
    put(&t, DH_OP_WRITE, 0, 0);
    put_range(&t, DH_OP_RANGE_NEW, 1, 0);
    put(&t, DH_OP_WRITE, 1, 1);
    put(&t, DH_OP_WRITE, 0, 1);
    struct predict_asker *a = predict_asker_new(&t);
    assert_true(predict_asker_check(a, (const u32[]){0, 1, 2, 3, 4}, 5));
    assert_false(predict_asker_check(a, (const u32[]){0, 2, 1, 3, 4}, 5));
    predict_asker_free(a);
    kit_done(&t);
}

/* The write of thread 1 and the first of thread 2 cannot be shown: thread 3 must end its section of lock 0 first, with a section of
 * lock 1 in it that comes after what thread 2 has read in its own. For the second write of thread 2 that is past: a pair that failed
 * must be tried again. */
static void not_for_good(void **state)
{
    (void)state;
    struct kit_trace t = {0};
    for (u32 u = 1; u <= 3; u++)
        put(&t, DH_OP_FORK, 0, u);
    put(&t, DH_OP_ACQUIRE, 1, 0);
    put(&t, DH_OP_WRITE, 1, 0);
    put(&t, DH_OP_RELEASE, 1, 0);
    put(&t, DH_OP_ACQUIRE, 3, 0);
    put(&t, DH_OP_WRITE, 3, 1);
    put(&t, DH_OP_ACQUIRE, 2, 1);
    put(&t, DH_OP_READ, 2, 1);
    put(&t, DH_OP_WRITE, 2, 0);
    put(&t, DH_OP_RELEASE, 2, 1);
    put(&t, DH_OP_WRITE, 3, 1);
    put(&t, DH_OP_ACQUIRE, 3, 1);
    put(&t, DH_OP_RELEASE, 3, 1);
    put(&t, DH_OP_RELEASE, 3, 0);
    put(&t, DH_OP_ACQUIRE, 2, 1);
    put(&t, DH_OP_WRITE, 2, 0);
    put(&t, DH_OP_RELEASE, 2, 1);
    struct predict_said s = predict_run(&t, "osr", 0);
    assert_int_equal(s.error, 0);
    assert_false(s.racy[10]);
    assert_true(s.racy[17]);
    predict_said_done(&s);
    kit_done(&t);
}

static bool quick(struct dh_confirm *c, u32 i, u32 j)
{
    u32 held_1 = dh_predict_holding(&c->p, i), held_2 = dh_predict_holding(&c->p, j);
    return !dh_predict_share_lock(&c->p, held_1, held_2) && dh_osr_quick(&c->order, c->cut, i, j);
}

/* What osr remembers from one event to the next (cuts, and earlier accesses that are out for good) loses nothing: it finds every event
 * that has a pair. */
static void remembered(void **state)
{
    (void)state;
    for (u64 seed = 1; seed <= 300; seed++) {
        struct kit_trace t = {0};
        struct dh_confirm c;
        predict_dense_trace(&t, seed, 150, 3 + (u32)(seed % 3), 4, 3 + (u32)(seed % 5));
        struct dh_trace trace = trace_of(&t);
        struct predict_said s = predict_run(&t, "osr", 0);
        assert_int_equal(s.error, 0);
        assert_int_equal(dh_confirm_init(&c, &trace), 0);
        for (u32 j = 0; j < t.n; j++) {
            bool racy = false;
            for (u32 i = 0; i < j && !racy; i++)
                racy = predict_conflict(&t, i, j) && quick(&c, i, j);
            assert_true(s.racy[j] || !racy); /* it may find more, by its search */
        }
        dh_confirm_done(&c);
        predict_said_done(&s);
        kit_done(&t);
    }
}

/* With frees and allocations anywhere: every pair that osr finds has a witness that passes the check, and it has all of syncp. */
static void random_lives(void **state)
{
    (void)state;
    for (u64 seed = 1; seed <= 400; seed++) {
        struct kit_trace dense = {0}, t = {0};
        predict_dense_trace(&dense, seed, 80, 2 + (u32)(seed % 3), 1 + (u32)(seed % 3), 3);
        for (u32 i = 0; i < dense.n; i++) {
            u64 x = dh_hash64(seed << 16 | i);
            if (x % 8 == 0)
                put_range(&t, x >> 8 & 1 ? DH_OP_RANGE_NEW : DH_OP_RANGE_FREE, dense.events[i].thread,
                          (u32)(x >> 16) % 3);
            kit_add(&t, dense.events[i]);
        }
        struct predict_asker *a = predict_asker_new(&t);
        for (u32 j = 0; j < t.n; j++) {
            for (u32 i = 0; i < j; i++) {
                if (predict_conflict(&t, i, j) && predict_asker_same(a, i, j) && predict_asker_syncp(a, i, j))
                    assert_true(predict_asker_osr(a, i, j));
                else if (predict_conflict(&t, i, j) && predict_asker_same(a, i, j))
                    predict_asker_osr(a, i, j); /* ends the test if it has no witness */
            }
        }
        predict_asker_free(a);
        assert_true(racy(&t, "osr") >= racy(&t, "syncp"));
        kit_done(&t);
        kit_done(&dense);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections),   cmocka_unit_test(short_search),  cmocka_unit_test(bounded_search),
        cmocka_unit_test(lives),      cmocka_unit_test(checked_lives), cmocka_unit_test(random_lives),
        cmocka_unit_test(remembered), cmocka_unit_test(not_for_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
