/*
 * test_split.c - src/runtime/shadow/split.c.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/pool.h"
#include "runtime/shadow/split.h"
#include "unit/handles.h"

static struct dh_thread self;

/* A cell as any number will do: nobody looks at what it means. */
static dh_cell_t new_split(struct dh_thread *t, u32 a, u32 b, u32 c, u32 d)
{
    const dh_cell_t bytes[] = {dh_cell_from(a), dh_cell_from(b), dh_cell_from(c), dh_cell_from(d)};
    return dh_split_new(t, bytes);
}

static u32 byte_of(const struct dh_bytes *b, u32 k)
{
    return dh_cell_raw(b->cell[k]);
}

static dh_cell_t make(dh_cell_t *p, u32 a, u32 b, u32 c, u32 d)
{
    *p = new_split(&self, a, b, c, d);
    assert_true(dh_cell_is_split(*p));
    return *p;
}

static void read_and_change(void **state)
{
    (void)state;
    dh_cell_t p, cell = make(&p, 1, 2, 3, 4);
    struct dh_bytes b;
    assert_true(dh_split_read(&p, cell, &b));
    for (u32 k = 0; k < 4; k++)
        assert_int_equal(byte_of(&b, k), k + 1);
    assert_true(dh_split_change(cell, &b, 2, dh_cell_from(33)));
    assert_false(dh_split_change(cell, &b, 2, dh_cell_from(34))); /* it is no longer 3 */
    assert_true(dh_split_read(&p, cell, &b));
    assert_int_equal(byte_of(&b, 2), 33);
    dh_split_free(&self, cell);
}

/* A record that has been used again does not answer for its earlier self. */
static void used_again(void **state)
{
    (void)state;
    dh_cell_t p, q, cell = make(&p, 1, 2, 3, 4);
    struct dh_bytes b;
    assert_true(dh_split_read(&p, cell, &b));
    dh_split_free(&self, cell);
    assert_cell_equal(make(&q, 1, 2, 3, 4), cell); /* the last one freed is the next one used */
    assert_false(dh_split_change(cell, &b, 0, dh_cell_from(9)));
    p = DH_CELL_NONE; /* as whoever freed it left it */
    assert_false(dh_split_read(&p, cell, &b));
    assert_true(dh_split_read(&q, cell, &b));
    assert_int_equal(byte_of(&b, 0), 1);
    dh_split_free(&self, cell);
}

/* A thread's first records are neighbours, and in order. */
static void side_by_side(void **state)
{
    (void)state;
    static struct dh_thread other;
    u32 first = dh_cell_split_index(new_split(&other, 1, 1, 1, 1)), n = 1;
    while (other.splits.n)
        assert_int_equal(dh_cell_split_index(new_split(&other, 1, 1, 1, 1)), first + n++);
    assert_int_equal(n, 64);
}

/* What is given back is used before there is more memory, and by one at a time. */
static void given_back(void **state)
{
    (void)state;
    enum { N = 3 * DH_SPLIT_CHUNK };
    static struct dh_thread one, two;
    static dh_cell_t cells[N], again[N];
    for (u32 i = 0; i < N; i++)
        cells[i] = new_split(&one, i, i, i, i);
    size_t memory = dh_pool_bytes();
    for (u32 i = 0; i < N; i += 3)
        dh_split_free(&one, cells[i]);
    dh_split_give_back(&one);
    assert_int_equal(one.splits.n, 0);
    for (u32 i = 0; i < N; i += 3)
        again[i] = new_split(&two, ~i, ~i, ~i, ~i);
    assert_int_equal(dh_pool_bytes(), memory);
    struct dh_bytes b;
    for (u32 i = 0; i < N; i++) {
        const dh_cell_t *p = i % 3 ? &cells[i] : &again[i];
        assert_true(dh_split_read(p, *p, &b));
        assert_int_equal(byte_of(&b, 3), i % 3 ? i : ~i);
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
    dh_cell_t *cells = calloc(N, sizeof(*cells)), *more = calloc(N, sizeof(*more)), late;
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
            if (!dh_cell_eq(cells[i], late))
                assert_int_equal(b.use & 1, i % step == 0);
        }
        assert_true(dh_split_read(&late, late, &b));
        assert_int_equal(byte_of(&b, 0), 5);
        /* The others come back, those of the first round too. */
        u32 back = N - N / step - 1;
        for (u32 i = 0; i < back; i++)
            make(&more[i], ~i, ~i, ~i, ~i);
        assert_int_equal(dh_pool_bytes(), memory);
        for (u32 i = 0; i < back; i++) {
            assert_true(dh_split_read(&more[i], more[i], &b));
            assert_int_equal(byte_of(&b, 0), ~i);
        }
        for (u32 i = 0; i < N; i += step) {
            assert_true(dh_split_read(&cells[i], cells[i], &b));
            assert_int_equal(byte_of(&b, 3), i);
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
    static dh_cell_t cells[MAKERS][MADE];
    u32 me = (u32)(uptr)arg;
    for (u32 i = 0; i < MADE; i++) {
        /* So that there are some meanwhile. */
        u32 seen = __atomic_load_n(&sweeps, __ATOMIC_RELAXED);
        while (i % 256 == 0 && seen == __atomic_load_n(&sweeps, __ATOMIC_RELAXED))
            sched_yield();
        cells[me][i] = new_split(t, me, i, me, i);
    }
    struct dh_bytes b;
    for (u32 i = 0; i < MADE; i++) {
        dh_cell_t *p = &cells[me][i];
        if (!dh_split_read(p, *p, &b) || byte_of(&b, 0) != me || byte_of(&b, 1) != i ||
            byte_of(&b, 2) != me || byte_of(&b, 3) != i)
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
static dh_cell_t shared;

static void *count_up(void *byte)
{
    struct dh_bytes b;
    for (u32 i = 0; i < ROUNDS;) {
        u32 k = (u32)(uptr)byte;
        if (dh_split_read(&shared, shared, &b) &&
            dh_split_change(shared, &b, k, dh_cell_from(byte_of(&b, k) + 1)))
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
        assert_int_equal(byte_of(&b, k), 2 * ROUNDS);
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
