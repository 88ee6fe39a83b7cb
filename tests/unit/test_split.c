/*
 * test_split.c - src/runtime/shadow/split.c.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/pool.h"
#include "runtime/shadow/split.h"
#include "unit/check.h"

static struct dh_thread self;

static u32 make(u32 *p, u32 a, u32 b, u32 c, u32 d)
{
    *p = dh_split_new(&self, (u32[]){a, b, c, d});
    assert_true(dh_cell_is_split(*p));
    return *p;
}

static void read_and_change(void **state)
{
    (void)state;
    u32 p, cell = make(&p, 1, 2, 3, 4);
    struct dh_bytes b;
    assert_true(dh_split_read(&p, cell, &b));
    for (u32 k = 0; k < 4; k++)
        assert_int_equal(b.cell[k], k + 1);
    assert_true(dh_split_change(cell, &b, 2, 33));
    assert_false(dh_split_change(cell, &b, 2, 34)); /* it is no longer 3 */
    assert_true(dh_split_read(&p, cell, &b));
    assert_int_equal(b.cell[2], 33);
    dh_split_free(&self, cell);
}

/* A record that has been used again does not answer for its earlier self. */
static void used_again(void **state)
{
    (void)state;
    u32 p, q, cell = make(&p, 1, 2, 3, 4);
    struct dh_bytes b;
    assert_true(dh_split_read(&p, cell, &b));
    dh_split_free(&self, cell);
    assert_int_equal(make(&q, 1, 2, 3, 4), cell); /* the last one freed is the next one used */
    assert_false(dh_split_change(cell, &b, 0, 9));
    p = 0; /* as whoever freed it left it */
    assert_false(dh_split_read(&p, cell, &b));
    assert_true(dh_split_read(&q, cell, &b));
    assert_int_equal(b.cell[0], 1);
    dh_split_free(&self, cell);
}

/* A thread's first records are neighbours, and in order. */
static void side_by_side(void **state)
{
    (void)state;
    static struct dh_thread other;
    u32 first = dh_split_new(&other, (u32[]){1, 1, 1, 1}), n = 1;
    while (other.splits_n)
        assert_int_equal(dh_split_new(&other, (u32[]){1, 1, 1, 1}), first + n++);
    assert_int_equal(n, 64);
}

/* What is given back is used before there is more memory, and by one at a time. */
static void given_back(void **state)
{
    (void)state;
    enum { N = 3 * DH_SPLIT_CHUNK };
    static struct dh_thread one, two;
    static u32 cells[N], again[N];
    for (u32 i = 0; i < N; i++)
        cells[i] = dh_split_new(&one, (u32[]){i, i, i, i});
    size_t memory = dh_pool_bytes();
    for (u32 i = 0; i < N; i += 3)
        dh_split_free(&one, cells[i]);
    dh_split_give_back(&one);
    assert_int_equal(one.splits_n, 0);
    for (u32 i = 0; i < N; i += 3)
        again[i] = dh_split_new(&two, (u32[]){~i, ~i, ~i, ~i});
    assert_int_equal(dh_pool_bytes(), memory);
    struct dh_bytes b;
    for (u32 i = 0; i < N; i++) {
        const u32 *p = i % 3 ? &cells[i] : &again[i];
        assert_true(dh_split_read(p, *p, &b));
        assert_int_equal(b.cell[3], i % 3 ? i : ~i);
        dh_split_free(&two, *p);
    }
    dh_split_give_back(&two);
}

/* Unmarked records are found; marked ones, and those made during a collection, stay. Marks are for one
 * collection. */
static void sweep(void **state)
{
    (void)state;
    enum { N = 10000 };
    u32 *cells = calloc(N, sizeof(u32)), *more = calloc(N, sizeof(u32)), late;
    for (u32 i = 0; i < N; i++)
        make(&cells[i], i, i, i, i);
    size_t memory = dh_pool_bytes();
    struct dh_bytes b;
    for (u32 step = 2; step <= 4; step += 2) {
        dh_split_marking(true);
        for (u32 i = 0; i < N; i += step)
            dh_split_mark(cells[i]);
        make(&late, 5, 5, 5, 5);
        dh_split_sweep();
        dh_split_marking(false);
        for (u32 i = 0; i < N; i++) {
            dh_split_read_taken(cells[i], &b);
            if (cells[i] != late)
                assert_int_equal(b.use & 1, i % step == 0);
        }
        assert_true(dh_split_read(&late, late, &b));
        assert_int_equal(b.cell[0], 5);
        /* The others come back, those of the first round too. */
        u32 back = N - N / step - 1;
        for (u32 i = 0; i < back; i++)
            make(&more[i], ~i, ~i, ~i, ~i);
        assert_int_equal(dh_pool_bytes(), memory);
        for (u32 i = 0; i < back; i++) {
            assert_true(dh_split_read(&more[i], more[i], &b));
            assert_int_equal(b.cell[0], ~i);
        }
        for (u32 i = 0; i < N; i += step) {
            assert_true(dh_split_read(&cells[i], cells[i], &b));
            assert_int_equal(b.cell[3], i);
        }
    }
    free(cells);
    free(more);
}

/* Records made while the sweep goes on stay, whoever makes them. */
enum { MAKERS = 2, MADE = 50000 };
static bool sweeping; /* atomic */
static u32 sweeps;    /* atomic */

static void *make_many(void *arg)
{
    struct dh_thread *t = calloc(1, sizeof(*t));
    static u32 cells[MAKERS][MADE];
    u32 me = (u32)(uptr)arg;
    for (u32 i = 0; i < MADE; i++) {
        /* So that there are some meanwhile. */
        u32 seen = __atomic_load_n(&sweeps, __ATOMIC_RELAXED);
        while (i % 256 == 0 && seen == __atomic_load_n(&sweeps, __ATOMIC_RELAXED))
            sched_yield();
        cells[me][i] = dh_split_new(t, (u32[]){me, i, me, i});
    }
    struct dh_bytes b;
    for (u32 i = 0; i < MADE; i++) {
        u32 *p = &cells[me][i];
        if (!dh_split_read(p, *p, &b) || b.cell[0] != me || b.cell[1] != i || b.cell[2] != me ||
            b.cell[3] != i)
            return "lost";
        dh_split_free(t, *p);
    }
    dh_split_give_back(t);
    free(t);
    return NULL;
}

static void *sweep_all_along(void *arg)
{
    for (; __atomic_load_n(&sweeping, __ATOMIC_RELAXED); __atomic_fetch_add(&sweeps, 1, __ATOMIC_RELAXED))
        dh_split_sweep();
    return arg;
}

static void made_while_sweeping(void **state)
{
    (void)state;
    pthread_t sweeper, makers[MAKERS];
    dh_split_marking(true);
    sweeping = true;
    assert_int_equal(pthread_create(&sweeper, NULL, sweep_all_along, NULL), 0);
    for (u32 i = 0; i < MAKERS; i++)
        assert_int_equal(pthread_create(&makers[i], NULL, make_many, (void *)(uptr)i), 0);
    for (u32 i = 0; i < MAKERS; i++) {
        void *lost;
        pthread_join(makers[i], &lost);
        assert_null(lost);
    }
    __atomic_store_n(&sweeping, false, __ATOMIC_RELAXED);
    pthread_join(sweeper, NULL);
    dh_split_marking(false);
}

/* Many threads change the bytes of one cell; none is lost. */
enum { ROUNDS = 20000 };
static u32 shared;

static void *count_up(void *byte)
{
    struct dh_bytes b;
    for (u32 i = 0; i < ROUNDS;) {
        u32 k = (u32)(uptr)byte;
        if (dh_split_read(&shared, shared, &b) && dh_split_change(shared, &b, k, b.cell[k] + 1))
            i++;
    }
    return NULL;
}

static void concurrent(void **state)
{
    (void)state;
    make(&shared, 0, 0, 0, 0);
    pthread_t t[8];
    for (u32 i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&t[i], NULL, count_up, (void *)(uptr)(i % 4)), 0);
    for (u32 i = 0; i < 8; i++)
        pthread_join(t[i], NULL);
    struct dh_bytes b;
    assert_true(dh_split_read(&shared, shared, &b));
    for (u32 k = 0; k < 4; k++)
        assert_int_equal(b.cell[k], 2 * ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_and_change), cmocka_unit_test(used_again),
        cmocka_unit_test(side_by_side),    cmocka_unit_test(given_back),
        cmocka_unit_test(sweep),           cmocka_unit_test(made_while_sweeping),
        cmocka_unit_test(concurrent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
