/*
 * test_wcp_parts.c - what the wcp detector keeps of variables and critical sections (detect/wcp_marks.h, detect/wcp.h): the last
 * access of each thread against a plain table, and clocks that are given up when no thread can learn from them, never before.
 */
#include "unit/check.h"

#include <string.h>

#include "detect/wcp.h"
#include "detect/wcp_marks.h"

enum { THREADS = 300, STEPS = 20000 };

static u32 roll(u32 n)
{
    static u64 state = 77;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)((state >> 33) % n);
}

static void check_equal(const struct dh_wcp_marks *m, const struct dh_wcp_mark *model)
{
    u32 n = 0;
    for (u32 t = 0; t < THREADS; t++) {
        if (!model[t].clock)
            continue;
        struct dh_wcp_mark mark = dh_wcp_marks_at(m, n++);
        assert_int_equal(mark.thread, t);
        assert_int_equal(mark.clock, model[t].clock);
        assert_int_equal(mark.site, model[t].site);
        assert_int_equal(mark.event, model[t].event);
    }
    assert_int_equal(m->n, n);
}

static void check_marks(void **state)
{
    (void)state;
    static struct dh_wcp_mark model[THREADS];
    struct dh_detector d = {0};
    struct dh_wcp_marks m = {0}, copy = {0};
    struct dh_vc c = {0};
    assert_int_equal(dh_wcp_marks_outside(&m, 0, &c), 0);
    for (u32 step = 0; step < STEPS; step++) {
        u32 t = roll(1 + roll(THREADS));
        /* Numbers of events beyond 32 bits. */
        model[t] =
            (struct dh_wcp_mark){.clock = model[t].clock + 1, .site = roll(1000), .event = (u64)step << 28};
        d.event = model[t].event;
        dh_wcp_marks_set(&d, &m, t, model[t].clock, model[t].site);
        if (step % 64 == 0)
            check_equal(&m, model);
        /* A clock that has every mark, and one that lacks a single one. */
        assert_true(dh_vc_set(&d, &c, t, model[t].clock - 1));
        u32 at = dh_wcp_marks_outside(&m, 0, &c);
        assert_true(at < m.n);
        assert_int_equal(dh_wcp_marks_at(&m, at).thread, t);
        assert_int_equal(dh_wcp_marks_outside(&m, at + 1, &c), m.n);
        assert_true(dh_vc_set(&d, &c, t, model[t].clock));
        assert_int_equal(dh_wcp_marks_outside(&m, 0, &c), m.n);
    }
    m.all = (struct dh_known){.tid = 3, .clock = 4};
    dh_wcp_marks_copy(&d, &copy, &m);
    assert_int_equal(copy.all.clock, 4);
    dh_wcp_marks_set(&d, &m, 5, UINT32_MAX, 0); /* of the one, not of the other */
    check_equal(&copy, model);
    dh_wcp_marks_drop(&d, &m);
    assert_int_equal(m.n, 0);
    assert_false(d.failed);
    dh_mem_done(&d.mem);
}

/* A variable that a few threads use takes about what their marks are: 20 bytes each. */
static void check_marks_size(void **state)
{
    (void)state;
    enum { VARIABLES = 10000, USERS = 12 };
    static struct dh_wcp_marks m[VARIABLES];
    struct dh_detector d = {0};
    for (u32 i = 0; i < VARIABLES; i++) {
        for (u32 k = 0; k < USERS; k++)
            dh_wcp_marks_set(&d, &m[i], (i + 25 * k) % THREADS, 1, 0);
    }
    /* What was outgrown is used again, but for the last of it. */
    assert_true(d.mem.bytes < (size_t)VARIABLES * USERS * 30 + (9 << 20));
    dh_mem_done(&d.mem);
}

/* A closed section of thread 1, in the list of its thread. */
static struct dh_wcp_section *closed(struct dh_detector *d, struct dh_wcp_closed *list, u32 clock)
{
    struct dh_wcp_section *s = dh_wcp_section_new(d, 1, clock);
    assert_non_null(s);
    s->rel = clock;
    assert_true(dh_vc_set(d, &s->h, 1, clock));
    dh_wcp_closed_add(d, list, s);
    return s;
}

static void check_settled(void **state)
{
    (void)state;
    struct dh_detector d = {0};
    struct dh_wcp_closed list = {0};
    struct dh_wcp_section *s[10];
    for (u32 i = 0; i < DH_ARRAY_LEN(s); i++)
        s[i] = closed(&d, &list, i + 1);
    s[2]->last = true;
    assert_int_equal(dh_wcp_closed_settle(&d, &list, 0), 10);
    assert_int_equal(dh_wcp_closed_settle(&d, &list, 5), 6); /* the last one of its lock is left */
    for (u32 i = 0; i < DH_ARRAY_LEN(s); i++) {
        bool known = i < 5 && i != 2;
        assert_int_equal(s[i]->known, known);
        assert_int_equal(dh_vc_get(&s[i]->h, 1), known ? 0 : i + 1);
    }
    s[2]->last = false;
    assert_int_equal(dh_wcp_closed_settle(&d, &list, 5), 5);
    assert_true(s[2]->known);
    /* Nobody but the list has it: its clock goes at once, itself with the next look. */
    dh_wcp_section_unref(&d, s[9]);
    assert_int_equal(s[9]->h.n, 0);
    assert_int_equal(dh_wcp_closed_settle(&d, &list, 5), 4);
    assert_int_equal(dh_vc_get(&s[5]->h, 1), 6);
    for (u32 i = 0; i < 9; i++)
        dh_wcp_section_unref(&d, s[i]);
    assert_int_equal(dh_wcp_closed_settle(&d, &list, 0), 0);
    assert_false(d.failed);
    dh_mem_done(&d.mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_marks),
        cmocka_unit_test(check_marks_size),
        cmocka_unit_test(check_settled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
