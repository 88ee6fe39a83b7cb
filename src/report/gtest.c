/*
 * gtest.c - the GoogleTest test in which a race was found.
 *
 * A program with many tests runs them one after the other in one process, without announcing them. But each
 * test, TEST(Suite, Name), is a class Suite_Name_Test with a function TestBody(), which is on the stack of
 * one of the accesses, or of the creation of a thread. So the stacks identify the test, however they were
 * symbolised. Suite names are assumed to have no underscore, as GoogleTest requires.
 */
#include <string.h>

#include "report/finding.h"

/* "Suite.Name" of "ns::Suite_Name_Test::TestBody()", with or without template arguments; else NULL. */
static const char *name_of(struct dh_arena *arena, const char *function)
{
    static const char body[] = "::TestBody()", class_end[] = "_Test";
    const char *end = function ? strstr(function, body) : NULL;
    if (!end || end[sizeof(body) - 1])
        return NULL;
    int depth = 0;
    if (end > function && end[-1] == '>') /* the arguments of a typed test */
        do {
            end--;
            depth += *end == '>' ? 1 : *end == '<' ? -1 : 0;
        } while (end > function && depth > 0);
    const char *start = end;
    while (start > function && start[-1] != ':')
        start--;
    size_t n = (size_t)(end - start), tail = sizeof(class_end) - 1;
    if (n <= tail || memcmp(end - tail, class_end, tail) != 0)
        return NULL;
    char *name = dh_arena_dup(arena, start, n - tail), *underscore = strchr(name, '_');
    if (!underscore || underscore == name || !underscore[1])
        return NULL;
    *underscore = '.';
    return name;
}

static const char *in_stack(struct dh_arena *arena, const struct dh_symbol_trace *stack)
{
    const char *name = NULL;
    for (size_t i = 0; i < stack->n && !name; i++)
        name = name_of(arena, stack->frames[i].function);
    return name;
}

void dh_finding_name_test(struct dh_arena *arena, struct dh_finding *f)
{
    const char *name = NULL;
    for (int i = 0; i < 2 && !name; i++) {
        const struct dh_finding_access *a = &f->accesses[i];
        name = in_stack(arena, &a->stack);
        for (size_t k = 0; k < a->n_threads && !name; k++)
            name = in_stack(arena, &a->threads[k].created_at);
    }
    /* A process that ran for one test alone may tell more of it: "All/Suite.Name/0", of a test with
     * parameters. */
    bool told = name && f->test && strstr(f->test, name) && !strpbrk(f->test, "*?:");
    if (name && !told)
        f->test = name;
}
