/*
 * test_group.c - which findings are one (report/group.h): repetitions, variants with one cause, chains of them, and
 * what stays apart.
 */
#include <string.h>

#include "check.h"
#include "report/finding_trace.h"
#include "report/group.h"

static struct dh_arena arena;
static struct dh_groups groups;

static void begin(bool all)
{
    dh_groups_init(&groups, &arena, all);
}

static void end(void)
{
    dh_groups_done(&groups);
    dh_arena_done(&arena);
    arena = (struct dh_arena){0};
}

/* A race on a variable between two places, the second one writing. */
static struct dh_group *add_by(const char *variable, const char *place, const char *other,
                               struct dh_suppress_rule *rule)
{
    const struct dh_finding_trace race = {
        .variable = variable,
        .accesses = {{.known = true, .thread = "a", .place = place},
                     {.known = true, .write = true, .thread = "b", .place = other}},
    };
    bool is_new;
    return dh_groups_add(&groups, dh_finding_of_trace(&arena, &race), rule, &is_new);
}

static struct dh_group *add(const char *variable, const char *place, const char *other)
{
    return add_by(variable, place, other, NULL);
}

static void settled(u64 findings, u64 variants, u64 repetitions)
{
    dh_groups_settle(&groups);
    assert_int_equal(groups.findings, findings);
    assert_int_equal(groups.variants, variants);
    assert_int_equal(groups.repetitions, repetitions);
}

static void one_line_is_one_cause(void **state)
{
    (void)state;
    begin(false);
    struct dh_group *first = add("x", "1", "9");
    assert_ptr_equal(dh_group_cause(add("x", "2", "9")), first);
    assert_ptr_equal(dh_group_cause(add("x", "3", "9")), first);
    assert_ptr_equal(add("x", "1", "9"), first);
    assert_ptr_equal(add("x", "9", "1")->cause, first); /* the same places the other way round: other kinds */
    settled(1, 4, 1);
    assert_int_equal(first->finding->count, 2);
    const struct dh_finding *v = first->finding->variants;
    assert_string_equal(v->accesses[0].place, "2");
    assert_string_equal(v->next->accesses[0].place, "3");
    assert_non_null(v->next->next);
    assert_null(v->next->next->next);
    end();
}

static void apart(void **state)
{
    (void)state;
    begin(false);
    struct dh_group *first = add("x", "1", "9");
    assert_null(add("y", "2", "9")->cause); /* another variable */
    assert_null(add("x", "3", "8")->cause); /* no line in common */
    assert_null(first->cause);
    settled(3, 3, 0);
    end();
}

/* What joins two findings makes them one, and the one that came first tells of all. */
static void chains(void **state)
{
    (void)state;
    begin(false);
    struct dh_group *first = add("x", "1", "2"), *second = add("x", "3", "4"), *third = add("x", "5", "6");
    assert_null(second->cause);
    struct dh_group *link = add("x", "4", "5");
    assert_ptr_equal(dh_group_cause(link), second);
    assert_ptr_equal(dh_group_cause(third), second);
    add("x", "2", "3");
    assert_ptr_equal(dh_group_cause(link), first);
    assert_ptr_equal(dh_group_cause(third), first);
    settled(1, 5, 0);
    size_t n = 0;
    for (const struct dh_finding *v = first->finding->variants; v; v = v->next)
        n++;
    assert_int_equal(n, 4);
    end();
}

static void suppressed_is_no_variant(void **state)
{
    (void)state;
    struct dh_suppress_rule rule = {0};
    begin(false);
    struct dh_group *hidden = add_by("x", "1", "9", &rule), *shown = add("x", "2", "9");
    assert_null(shown->cause);
    assert_null(add_by("x", "3", "9", &rule)->cause);
    assert_ptr_not_equal(add("x", "1", "9"), hidden); /* of a process with other rules */
    settled(1, 2, 0);
    assert_int_equal(groups.suppressed, 2);
    end();
}

static void one_by_one(void **state)
{
    (void)state;
    begin(true);
    add("x", "1", "9");
    assert_null(add("x", "2", "9")->cause);
    add("x", "1", "9");
    settled(2, 2, 1);
    end();
}

/* A thousand variants, joined from both ends. */
static void many(void **state)
{
    (void)state;
    begin(false);
    for (int i = 0; i < 1000; i++)
        add("x", dh_arena_printf(&arena, "%d", 2 * i), dh_arena_printf(&arena, "%d", 2 * i + 1));
    for (int i = 998; i >= 0; i--)
        add("x", dh_arena_printf(&arena, "%d", 2 * i + 1), dh_arena_printf(&arena, "%d", 2 * i + 2));
    settled(1, 1999, 0);
    for (const struct dh_group *g = groups.first->next; g; g = g->next)
        assert_non_null(g->cause);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_is_one_cause),    cmocka_unit_test(apart),      cmocka_unit_test(chains),
        cmocka_unit_test(suppressed_is_no_variant), cmocka_unit_test(one_by_one), cmocka_unit_test(many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
