/*
 * test_split.c - src/runtime/split.c.
 */
#include <pthread.h>
#include <stdlib.h>

#include "runtime/split.h"
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

/* Unmarked records are found; marked ones, and those made during a collection, stay. */
static void sweep(void **state)
{
    (void)state;
    enum { N = 10000 };
    u32 *cells = calloc(N, sizeof(u32)), late;
    for (u32 i = 0; i < N; i++)
        make(&cells[i], i, i, i, i);
    dh_split_marking(true, 7);
    for (u32 i = 0; i < N; i += 2)
        dh_split_mark(cells[i]);
    make(&late, 5, 5, 5, 5);
    dh_split_sweep(&self);
    dh_split_marking(false, 0);
    struct dh_bytes b;
    assert_true(dh_split_read(&late, late, &b));
    for (u32 i = 0; i < N; i += 2) {
        assert_true(dh_split_read(&cells[i], cells[i], &b));
        assert_int_equal(b.cell[3], i);
    }
    /* The others come back. */
    bool found = false;
    for (u32 i = 0; i < N / 2 && !found; i++) {
        u32 p, cell = make(&p, 0, 0, 0, 0);
        for (u32 k = 1; k < N && !found; k += 2)
            found = cells[k] == cell;
    }
    assert_true(found);
    free(cells);
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
        cmocka_unit_test(read_and_change),
        cmocka_unit_test(used_again),
        cmocka_unit_test(sweep),
        cmocka_unit_test(concurrent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
