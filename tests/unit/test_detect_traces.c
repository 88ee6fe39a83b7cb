/*
 * test_detect_traces.c - every detector on every trace of tests/traces, against tests/traces/expect/DETECTOR.tsv.
 *
 * With UPDATE_EXPECTED=1 in the environment it writes those files instead: read the difference before keeping it.
 */
#include "unit/check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/kit.h"

static int is_trace(const struct dirent *d)
{
    const char *dot = strrchr(d->d_name, '.');
    return dot && strcmp(dot, ".std") == 0;
}

/* "3 8 11": the racy events, from 1. */
static void describe(const struct kit_trace *t, const struct kit_said *s, char *buf, size_t cap)
{
    size_t at = 0;
    buf[0] = '\0';
    for (u32 i = 0; i < t->n && at < cap; i++) {
        if (s->events[i])
            at += (size_t)snprintf(buf + at, cap - at, "%s%u", at ? " " : "", i + 1);
    }
}

/* What the file says about a trace, NULL: nothing; and the reason, a third column that may be missing. */
static char *expected(const char *detector, const char *trace, char *line, size_t cap,
                      const char **ret_reason)
{
    char path[512];
    snprintf(path, sizeof(path), DH_TRACES "/expect/%s.tsv", detector);
    FILE *f = fopen(path, "r");
    char *found = NULL;
    while (f && !found && fgets(line, (int)cap, f)) {
        char *tab = strchr(line, '\t');
        line[strcspn(line, "\n")] = '\0';
        if (!tab)
            continue;
        *tab = '\0';
        if (line[0] != '#' && strcmp(line, trace) == 0)
            found = tab + 1;
    }
    if (f)
        fclose(f);
    char *reason = found ? strchr(found, '\t') : NULL;
    if (reason)
        *reason++ = '\0';
    *ret_reason = reason;
    return found;
}

static void update(const struct dh_detector_ops *ops, struct dirent **list, int n)
{
    char path[512], new_path[512], got[4096], line[4096];
    snprintf(new_path, sizeof(new_path), DH_TRACES "/expect/%s.new", ops->name);
    FILE *f = fopen(new_path, "w");
    assert_non_null(f);
    fprintf(f, "# What %s reports: trace; the later events of its races, from 1; why.\n", ops->name);
    for (int i = 0; i < n; i++) {
        struct kit_trace t;
        snprintf(path, sizeof(path), DH_TRACES "/%s", list[i]->d_name);
        assert_true(kit_load(&t, path));
        struct kit_said s = kit_run(&t, ops);
        const char *reason;
        describe(&t, &s, got, sizeof(got));
        expected(ops->name, list[i]->d_name, line, sizeof(line), &reason);
        fprintf(f, "%s\t%s%s%s\n", list[i]->d_name, got, reason ? "\t" : "", reason ? reason : "");
        kit_said_done(&s);
        kit_done(&t);
    }
    fclose(f);
    snprintf(path, sizeof(path), DH_TRACES "/expect/%s.tsv", ops->name);
    assert_int_equal(rename(new_path, path), 0);
}

static int compare(const struct dh_detector_ops *ops, const char *name)
{
    char path[512], got[4096], line[4096];
    struct kit_trace t;
    int wrong = 0;
    snprintf(path, sizeof(path), DH_TRACES "/%s", name);
    if (!kit_load(&t, path))
        return 1;
    struct kit_said s = kit_run(&t, ops);
    describe(&t, &s, got, sizeof(got));
    const char *reason, *want = expected(ops->name, name, line, sizeof(line), &reason);
    if (!want || s.error || strcmp(want, got) != 0) {
        fprintf(stderr, "%s on %s: expected '%s', got '%s'\n", ops->name, name, want ? want : "(no line)",
                got);
        wrong = 1;
    }
    kit_said_done(&s);
    kit_done(&t);
    return wrong;
}

static void all(void **state)
{
    (void)state;
    struct dirent **list;
    int n = scandir(DH_TRACES, &list, is_trace, alphasort), wrong = 0;
    assert_true(n > 0);
    for (u32 d = 0; d < dh_n_detectors; d++) {
        if (getenv("UPDATE_EXPECTED"))
            update(dh_detectors[d], list, n);
        for (int i = 0; i < n; i++)
            wrong += compare(dh_detectors[d], list[i]->d_name);
    }
    for (int i = 0; i < n; i++)
        free(list[i]);
    free(list);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
