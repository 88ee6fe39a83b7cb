/*
 * test_reference.c - src/runtime/engine/reference.c: words before and after an access, made by hand, right and wrong in
 * each way that a quick path could leave them.
 *
 * The access is made by the thread in slot 1 at clock 5, of class 1. It knows the thread in slot 2 up to clock 3, and
 * nothing of slot 3.
 */
#include "runtime/engine/reference.h"

#include "runtime/abi/abi.h"
#include "unit/check.h"

enum { ME = 1, THEM = 2, OTHER = 3, NOW = 5, KNOWN = 3 };
enum { R1 = 1, R2 = 2, W = DH_NTH_WRITE };
enum { ALL = 15, FIRST = 1, REST = 14 };

static u32 clocks[4] = {0, NOW, KNOWN, 0};
static const struct dh_vclock vc = {clocks, 4, 4};

/* A new id, with a block of its own. */
static dh_id_t make(u32 slot, u32 clock, u32 kind)
{
    u32 count;
    dh_id_t id = dh_ids_take(1, &count);
    const struct dh_access_rec r = {.clock = clock,
                                    .slot = dh_slot_from(slot),
                                    .uid = dh_uid_from(slot + 1),
                                    .lockset = DH_LOCKSET_EMPTY,
                                    .kind = kind};
    assert_true(dh_id_put(id, &r));
    return id;
}

static dh_id_t my_read, my_write, my_atomic, my_old_read;    /* of this epoch, but for the last */
static dh_id_t old_read, old_write, old_atomic;              /* theirs, happened before */
static dh_id_t their_read, their_write, their_atomic, other; /* not ordered */

static int setup(void **state)
{
    (void)state;
    assert_true(dh_ids_init());
    my_read = make(ME, NOW, DH_READ);
    my_write = make(ME, NOW, DH_WRITE);
    my_atomic = make(ME, NOW, DH_WRITE | DH_ATOMIC);
    my_old_read = make(ME, NOW - 1, DH_READ);
    old_read = make(THEM, KNOWN, DH_READ);
    old_write = make(THEM, KNOWN, DH_WRITE);
    old_atomic = make(THEM, KNOWN, DH_WRITE | DH_ATOMIC);
    their_read = make(THEM, KNOWN + 1, DH_READ);
    their_write = make(THEM, KNOWN + 1, DH_WRITE);
    their_atomic = make(THEM, KNOWN + 1, DH_WRITE | DH_ATOMIC);
    other = make(OTHER, 1, DH_READ);
    return 0;
}

static struct dh_reference_entry entry(u32 plane, dh_id_t id, u32 mask)
{
    return (struct dh_reference_entry){id, plane, dh_mask_from(mask)};
}

#define WORD(...)                                                                                 \
    (&(const struct dh_reference_word){(const struct dh_reference_entry[]){__VA_ARGS__},          \
                                       sizeof((const struct dh_reference_entry[]){__VA_ARGS__}) / \
                                           sizeof(struct dh_reference_entry)})
static const struct dh_reference_word nothing;

static struct dh_reference_access access_of(u32 kind, u32 mask, const dh_id_t *reported)
{
    return (struct dh_reference_access){.vc = &vc,
                                        .slot = dh_slot_from(ME),
                                        .class = R1,
                                        .kind = kind,
                                        .mask = dh_mask_from(mask),
                                        .reported = reported,
                                        .n_reported = reported != NULL};
}

/* The verdict on an access that has reported of a race with *reported, or of none. */
static enum dh_reference_verdict judge(u32 kind, u32 mask, const dh_id_t *reported,
                                       const struct dh_reference_word *before,
                                       const struct dh_reference_word *after)
{
    const struct dh_reference_access a = access_of(kind, mask, reported);
    return dh_reference_judge(&a, before, after).verdict;
}

static void presence(void **state)
{
    (void)state;
    assert_int_equal(judge(DH_READ, ALL, NULL, &nothing, WORD(entry(R1, my_read, ALL))), DH_REFERENCE_RIGHT);
    assert_int_equal(judge(DH_READ, ALL, NULL, &nothing, &nothing), DH_REFERENCE_ABSENT);
    assert_int_equal(judge(DH_READ, ALL, NULL, &nothing, WORD(entry(R1, my_read, REST))),
                     DH_REFERENCE_ABSENT);
    assert_int_equal(judge(DH_READ, ALL, NULL, &nothing, WORD(entry(R2, my_read, ALL))), DH_REFERENCE_ABSENT);
    assert_int_equal(judge(DH_READ, ALL, NULL, &nothing, WORD(entry(R1, my_old_read, ALL))),
                     DH_REFERENCE_ABSENT);
    assert_int_equal(judge(DH_WRITE, ALL, NULL, &nothing, WORD(entry(R1, my_write, ALL))),
                     DH_REFERENCE_ABSENT);
    assert_int_equal(judge(DH_WRITE | DH_ATOMIC, ALL, NULL, &nothing, WORD(entry(W, my_write, ALL))),
                     DH_REFERENCE_ABSENT);
    /* A write of this epoch stands for a read. */
    assert_int_equal(
        judge(DH_READ, ALL, NULL, WORD(entry(R1, my_write, ALL)), WORD(entry(R1, my_write, ALL))),
        DH_REFERENCE_RIGHT);
}

/* Where it was not made. */
static void bytes_and_planes(void **state)
{
    (void)state;
    assert_int_equal(judge(DH_WRITE, FIRST, NULL, &nothing, WORD(entry(W, my_write, FIRST))),
                     DH_REFERENCE_RIGHT);
    assert_int_equal(judge(DH_WRITE, FIRST, NULL, &nothing, WORD(entry(W, my_write, ALL))),
                     DH_REFERENCE_EXTRA);
    assert_int_equal(
        judge(DH_WRITE, ALL, NULL, &nothing, WORD(entry(W, my_write, ALL), entry(R1, my_write, ALL))),
        DH_REFERENCE_RIGHT);
    assert_int_equal(
        judge(DH_WRITE, FIRST, NULL, &nothing, WORD(entry(W, my_write, FIRST), entry(R1, my_write, ALL))),
        DH_REFERENCE_EXTRA);
    assert_int_equal(
        judge(DH_WRITE, ALL, NULL, &nothing, WORD(entry(W, my_write, ALL), entry(R2, my_write, ALL))),
        DH_REFERENCE_EXTRA);
    assert_int_equal(
        judge(DH_READ, ALL, NULL, &nothing, WORD(entry(R1, my_read, ALL), entry(W, my_read, ALL))),
        DH_REFERENCE_EXTRA);
    assert_int_equal(judge(DH_WRITE | DH_ATOMIC, ALL, NULL, &nothing,
                           WORD(entry(W, my_atomic, ALL), entry(R1, my_atomic, ALL))),
                     DH_REFERENCE_EXTRA);
}

static void races(void **state)
{
    (void)state;
    const struct dh_reference_word *wrote = WORD(entry(W, my_write, ALL)),
                                   *read = WORD(entry(R1, my_read, ALL));
    /* Overwritten without being compared: a write; what another class has read; what its own class has read. */
    assert_int_equal(judge(DH_WRITE, ALL, NULL, WORD(entry(W, their_write, ALL)), wrote),
                     DH_REFERENCE_UNREPORTED);
    assert_int_equal(judge(DH_WRITE, ALL, NULL, WORD(entry(R2, their_read, FIRST)), wrote),
                     DH_REFERENCE_UNREPORTED);
    assert_int_equal(judge(DH_WRITE, ALL, NULL, WORD(entry(R1, other, ALL)), wrote), DH_REFERENCE_UNREPORTED);
    assert_int_equal(judge(DH_WRITE, ALL, &their_write, WORD(entry(W, their_write, ALL)), wrote),
                     DH_REFERENCE_RIGHT);
    assert_int_equal(judge(DH_WRITE, ALL, NULL, WORD(entry(W, old_write, ALL)), wrote), DH_REFERENCE_RIGHT);
    /* A race with another access does not stand for it. */
    assert_int_equal(
        judge(DH_WRITE, ALL, &their_write, WORD(entry(W, their_write, ALL), entry(R1, other, ALL)), wrote),
        DH_REFERENCE_UNREPORTED);
    /* Reads. */
    assert_int_equal(judge(DH_READ, ALL, NULL, WORD(entry(W, their_write, ALL)),
                           WORD(entry(W, their_write, ALL), entry(R1, my_read, ALL))),
                     DH_REFERENCE_UNREPORTED);
    assert_int_equal(judge(DH_READ, ALL, NULL, WORD(entry(R2, their_read, ALL)),
                           WORD(entry(R2, their_read, ALL), entry(R1, my_read, ALL))),
                     DH_REFERENCE_RIGHT);
    assert_int_equal(judge(DH_READ, FIRST, NULL, WORD(entry(W, their_write, REST)),
                           WORD(entry(W, their_write, REST), entry(R1, my_read, FIRST))),
                     DH_REFERENCE_RIGHT);
    /* Known in this epoch: whoever came since has looked at it. */
    assert_int_equal(judge(DH_READ, ALL, NULL, WORD(entry(W, their_write, ALL), entry(R1, my_read, ALL)),
                           WORD(entry(W, their_write, ALL), entry(R1, my_read, ALL))),
                     DH_REFERENCE_RIGHT);
    /* The same looked at again, which has to find it. */
    struct dh_reference_access again = access_of(DH_READ, ALL, NULL);
    again.recorded = true;
    assert_int_equal(
        dh_reference_judge(&again, WORD(entry(W, their_write, ALL), entry(R1, my_read, ALL)), read).verdict,
        DH_REFERENCE_UNREPORTED);
    /* A write that stands for a read, or takes its place, is in the write plane. */
    assert_int_equal(
        judge(DH_WRITE, ALL, NULL, WORD(entry(R2, their_write, ALL), entry(W, old_write, ALL)), wrote),
        DH_REFERENCE_LOST);
    assert_int_equal(judge(DH_WRITE, ALL, &their_write,
                           WORD(entry(R2, their_read, ALL), entry(W, their_write, ALL)), wrote),
                     DH_REFERENCE_RIGHT);
}

static void atomics(void **state)
{
    const u32 kind = DH_WRITE | DH_ATOMIC;
    (void)state;
    assert_int_equal(judge(kind, ALL, NULL, WORD(entry(W, their_atomic, ALL)),
                           WORD(entry(W, their_atomic, ALL), entry(W, my_atomic, ALL))),
                     DH_REFERENCE_RIGHT);
    assert_int_equal(
        judge(kind, ALL, NULL, WORD(entry(W, their_atomic, ALL)), WORD(entry(W, my_atomic, ALL))),
        DH_REFERENCE_LOST);
    assert_int_equal(judge(kind, ALL, NULL, WORD(entry(W, old_atomic, ALL)), WORD(entry(W, my_atomic, ALL))),
                     DH_REFERENCE_RIGHT);
    /* A plain access stays, even if it has happened before. */
    assert_int_equal(judge(kind, ALL, NULL, WORD(entry(W, old_write, ALL)), WORD(entry(W, my_atomic, ALL))),
                     DH_REFERENCE_LOST);
    assert_int_equal(judge(kind, ALL, NULL, WORD(entry(W, their_write, ALL)),
                           WORD(entry(W, their_write, ALL), entry(W, my_atomic, ALL))),
                     DH_REFERENCE_UNREPORTED);
}

static void losses(void **state)
{
    (void)state;
    /* Bytes that are not touched. */
    assert_int_equal(
        judge(DH_WRITE, FIRST, NULL, WORD(entry(W, old_write, ALL)), WORD(entry(W, my_write, FIRST))),
        DH_REFERENCE_LOST);
    assert_int_equal(judge(DH_WRITE, FIRST, NULL, WORD(entry(W, old_write, ALL)),
                           WORD(entry(W, my_write, FIRST), entry(W, old_write, REST))),
                     DH_REFERENCE_RIGHT);
    assert_int_equal(
        judge(DH_READ, FIRST, NULL, WORD(entry(R1, my_old_read, ALL)), WORD(entry(R1, my_read, FIRST))),
        DH_REFERENCE_LOST);
    /* ... but for a write that stood for a read there, as long as the write plane has it. */
    assert_int_equal(judge(DH_READ, FIRST, NULL, WORD(entry(R1, old_write, ALL), entry(W, old_write, ALL)),
                           WORD(entry(R1, my_read, FIRST), entry(W, old_write, ALL))),
                     DH_REFERENCE_RIGHT);
    assert_int_equal(judge(DH_READ, FIRST, NULL, WORD(entry(R1, old_write, ALL), entry(W, old_atomic, ALL)),
                           WORD(entry(R1, my_read, FIRST), entry(W, old_atomic, ALL))),
                     DH_REFERENCE_LOST);
    /* Readers of one class: those that happened before go, others stay. */
    assert_int_equal(judge(DH_READ, ALL, NULL, WORD(entry(R1, old_read, ALL), entry(R1, other, ALL)),
                           WORD(entry(R1, my_read, ALL), entry(R1, other, ALL))),
                     DH_REFERENCE_RIGHT);
    assert_int_equal(judge(DH_READ, ALL, NULL, WORD(entry(R1, other, ALL)), WORD(entry(R1, my_read, ALL))),
                     DH_REFERENCE_LOST);
    /* Other planes are others' business, but for a write and what happened before it. */
    assert_int_equal(judge(DH_READ, ALL, NULL, WORD(entry(W, old_write, ALL)), WORD(entry(R1, my_read, ALL))),
                     DH_REFERENCE_LOST);
    assert_int_equal(judge(DH_READ, ALL, NULL, WORD(entry(R2, old_read, ALL)), WORD(entry(R1, my_read, ALL))),
                     DH_REFERENCE_LOST);
    assert_int_equal(
        judge(DH_WRITE, ALL, NULL, WORD(entry(R2, old_read, ALL)), WORD(entry(W, my_write, ALL))),
        DH_REFERENCE_RIGHT);
    assert_int_equal(
        judge(DH_WRITE, FIRST, NULL, WORD(entry(R2, old_read, REST)), WORD(entry(W, my_write, FIRST))),
        DH_REFERENCE_LOST);
}

static bool disturbed(enum dh_reference_verdict verdict, const struct dh_reference_word *before,
                      const struct dh_reference_word *after)
{
    const struct dh_reference_access a = access_of(DH_WRITE, ALL, NULL);
    const struct dh_reference_fault fault = {.verdict = verdict, .plane = W};
    return dh_reference_is_disturbed(&a, &fault, before, after);
}

static void others(void **state)
{
    (void)state;
    const struct dh_reference_word *theirs = WORD(entry(W, their_write, ALL));
    assert_true(disturbed(DH_REFERENCE_ABSENT, &nothing, theirs));
    assert_true(disturbed(DH_REFERENCE_UNREPORTED, &nothing, theirs));
    assert_true(disturbed(DH_REFERENCE_ABSENT, WORD(entry(W, their_write, FIRST)), theirs));
    /* It was there before: put there again, or not touched. */
    assert_true(disturbed(DH_REFERENCE_ABSENT, theirs, theirs));
    assert_false(disturbed(DH_REFERENCE_UNREPORTED, theirs, theirs));
    assert_false(
        disturbed(DH_REFERENCE_ABSENT, WORD(entry(W, old_write, ALL)), WORD(entry(W, old_write, ALL))));
    assert_false(
        disturbed(DH_REFERENCE_LOST, WORD(entry(R2, their_read, ALL)), WORD(entry(R2, their_read, ALL))));
    /* Nobody else was there. */
    assert_false(
        disturbed(DH_REFERENCE_LOST, WORD(entry(W, old_write, ALL)), WORD(entry(W, my_write, FIRST))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presence), cmocka_unit_test(bytes_and_planes), cmocka_unit_test(races),
        cmocka_unit_test(atomics),  cmocka_unit_test(losses),           cmocka_unit_test(others),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
