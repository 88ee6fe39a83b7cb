/*
 * test_caper_state.c - src/caper/state*.c: what is written is read again, what is damaged is refused, and a
 * state does not grow with runs in which nothing happens.
 */
#include "caper/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/check.h"
#include "util/map.h"

static struct dh_arena arena;

static struct dh_caper_state sample(void)
{
    struct dh_caper_state s = {.arena = &arena, .build_id = "00ff", .program = "/x/\377\"prog\n"};
    for (u64 i = 0; i < 70; i++)
        dh_caper_state_add_site(&s, i * 0x0123456789abcdefull);
    for (u64 i = 0; i < 3; i++) {
        struct dh_caper_merged m = {.time = 1700000000,
                                    .runs = 1 + i,
                                    .new_sites = i,
                                    .escaped = i + 1,
                                    .sp = 61000000,
                                    .dp = 7,
                                    .end = "exit 0",
                                    .build_id = "00ff",
                                    .file = "s.run-abcdef"};
        dh_caper_state_add_merged(&s, &m);
    }
    return s;
}

static int parse(const char *text, size_t len, struct dh_caper_state *ret)
{
    const char *why = NULL;
    *ret = (struct dh_caper_state){.arena = &arena};
    int rc = dh_caper_state_parse(ret, text, len, &why);
    assert_int_equal(rc != 0, why != NULL);
    return rc;
}

static void test_again(void **state)
{
    (void)state;
    size_t len, again_len;
    struct dh_caper_state s = sample(), read;
    char *text = dh_caper_state_print(&s, &len);
    assert_int_equal(parse(text, len, &read), 0);
    assert_int_equal(read.n_sites, s.n_sites);
    assert_memory_equal(read.sites, s.sites, s.n_sites * sizeof(*s.sites));
    assert_int_equal(dh_caper_state_runs(&read), 6);
    assert_int_equal(dh_caper_state_steady(&read), 0);
    assert_true(dh_caper_state_has_run(&read, "s.run-abcdef"));
    assert_false(dh_caper_state_has_run(&read, "s.run-abcdeg"));
    char *again = dh_caper_state_print(&read, &again_len);
    assert_int_equal(again_len, len);
    assert_memory_equal(again, text, len);
    dh_caper_state_done(&read);

    /* Whatever is cut off or changed is refused. */
    for (size_t i = 0; i < len; i++) {
        assert_int_equal(parse(text, i, &read), -1);
        dh_caper_state_done(&read);
        text[i] ^= 1;
        assert_int_equal(parse(text, len, &read), -1);
        dh_caper_state_done(&read);
        text[i] ^= 1;
    }
    free(text);
    free(again);
    dh_caper_state_done(&s);
}

/* With a checksum that fits, too. */
static void test_nonsense(void **state)
{
    (void)state;
    static const char *const lines[] = {"{}",
                                        "[]",
                                        "nothing",
                                        "{\"type\":\"run\",\"runs\":-1}",
                                        "{\"type\":\"run\"}",
                                        "{\"type\":\"escaped\",\"sites\":7}",
                                        "{\"type\":\"escaped\",\"sites\":[7]}",
                                        "{\"type\":\"escaped\",\"sites\":[\"123\"]}",
                                        "{\"type\":\"escaped\",\"sites\":[\"-123456789abcdef\"]}",
                                        "{\"type\":\"end\"}"};
    for (size_t i = 0; i < DH_ARRAY_LEN(lines); i++) {
        struct dh_caper_state read;
        char text[512];
        int n =
            snprintf(text, sizeof(text), "{\"type\":\"caper\",\"v\":1,\"build_id\":\"ab\"}\n%s\n", lines[i]);
        int all =
            n + snprintf(text + n, sizeof(text) - (size_t)n, "{\"type\":\"end\",\"checksum\":\"%016llx\"}\n",
                         (unsigned long long)dh_util_hash(text, (size_t)n));
        assert_int_equal(parse(text, (size_t)all, &read), -1);
        dh_caper_state_done(&read);
    }
}

static void test_many_runs(void **state)
{
    (void)state;
    char name[] = "/tmp/deadheat-state-XXXXXX";
    const char *why;
    struct dh_caper_state s;
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(dh_caper_state_init(&s, &arena, name, &why), 0);
    s.build_id = "ab";
    s.program = "/prog";
    for (u64 i = 0; i < 10000; i++) {
        struct dh_caper_merged m = {
            .runs = 1, .new_sites = i % 2500 == 0, .end = "exit 0", .build_id = "ab", .file = "f"};
        dh_caper_state_add_merged(&s, &m);
    }
    assert_int_equal(dh_caper_state_write(&s, &why), 0);
    assert_int_equal(dh_caper_state_read(&s, &why), 0);
    assert_true(s.exists);
    assert_int_equal(dh_caper_state_runs(&s), 10000);
    assert_int_equal(dh_caper_state_steady(&s), 2499);
    assert_int_equal(s.n_merged, 8);
    unlink(name);
    dh_caper_state_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_again), cmocka_unit_test(test_nonsense),
                                       cmocka_unit_test(test_many_runs)};
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    dh_arena_done(&arena);
    return rc;
}
