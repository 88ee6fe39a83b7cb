/*
 * test_fingerprint.c - src/report/fingerprint.c: the texts of version 2, from the facts that an analysis of the source has
 * as well as debug information; fingerprints of both versions. tests/cli/fingerprint edits programs.
 */
#include <string.h>

#include "report/fingerprint.h"
#include "unit/check.h"

static struct dh_arena arena;

static const struct dh_fingerprint_memory stack = {.place = DH_MODEL_STACK};
static const struct dh_fingerprint_side reader = {DH_MODEL_READ, false, {.function = "f", .placed = true}};

static void side_is(struct dh_fingerprint_side side, const char *want)
{
    const struct dh_fingerprint_side sides[2] = {side, side};
    const char *text = dh_fingerprint_text(&arena, sides, &stack);
    assert_string_equal(text, dh_arena_printf(&arena, "2|%s|%s|stack", want, want));
}

static void memory_is(struct dh_fingerprint_memory memory, const char *want)
{
    const struct dh_fingerprint_side sides[2] = {reader, reader};
    const char *text = dh_fingerprint_text(&arena, sides, &memory);
    assert_string_equal(text, dh_arena_printf(&arena, "2|read f+0:0|read f+0:0|%s", want));
}

static void places(void **state)
{
    (void)state;
    const struct dh_fingerprint_site near = {.function = "_Z1gv", .placed = true, .line = 12, .column = 3};
    struct dh_fingerprint_site at = near;
    side_is((struct dh_fingerprint_side){DH_MODEL_WRITE, false, at}, "write _Z1gv+12:3");
    side_is((struct dh_fingerprint_side){DH_MODEL_FREE, false, at}, "free _Z1gv+12:3");
    at.line = -1; /* a declaration in two lines */
    side_is((struct dh_fingerprint_side){DH_MODEL_WRITE, false, at}, "write _Z1gv-1:3");
    at.home = "core/list.c";
    side_is((struct dh_fingerprint_side){DH_MODEL_WRITE, false, at}, "write _Z1gv@core/list.c-1:3");
    at.file = "gram.y";
    at.line = 40;
    side_is((struct dh_fingerprint_side){DH_MODEL_WRITE, false, at}, "write _Z1gv@core/list.c gram.y:40:3");
    at.placed = false;
    side_is((struct dh_fingerprint_side){DH_MODEL_WRITE, false, at}, "write _Z1gv@core/list.c");
    at = (struct dh_fingerprint_site){.function = "g", .module = "libx.so", .offset = 0x2a};
    side_is((struct dh_fingerprint_side){DH_MODEL_WRITE, false, at}, "write libx.so!g+0x2a");
    at.function = NULL;
    side_is((struct dh_fingerprint_side){DH_MODEL_WRITE, false, at}, "write libx.so!?+0x2a");
    side_is((struct dh_fingerprint_side){.kind = DH_MODEL_WRITE}, "write ?");
}

static void memories(void **state)
{
    (void)state;
    struct dh_fingerprint_memory m = {.place = DH_MODEL_GLOBAL, .name = "_ZN2ns1xE", .members = "[].n"};
    memory_is(m, "global _ZN2ns1xE[].n");
    m.home = "a.c";
    memory_is(m, "global _ZN2ns1xE@a.c[].n");
    m.place = DH_MODEL_TLS;
    memory_is(m, "tls _ZN2ns1xE@a.c[].n");
    m.place = DH_MODEL_STACK; /* whether its name is known depends on the order of threads */
    memory_is(m, "stack");
    memory_is((struct dh_fingerprint_memory){.place = DH_MODEL_GLOBAL}, "global");
    memory_is((struct dh_fingerprint_memory){.place = DH_MODEL_UNKNOWN}, "unknown");
    m = (struct dh_fingerprint_memory){.place = DH_MODEL_HEAP, .allocated_at = reader.at};
    memory_is(m, "heap f+0:0");
}

static void sides_have_no_order(void **state)
{
    (void)state;
    struct dh_fingerprint_side sides[2] = {reader, reader};
    sides[1].atomic = true;
    const char *one = dh_fingerprint_text(&arena, sides, &stack);
    assert_string_equal(one, "2|atomic read f+0:0|read f+0:0|stack");
    sides[0] = sides[1];
    sides[1] = reader;
    assert_string_equal(one, dh_fingerprint_text(&arena, sides, &stack));
}

static void validity(void **state)
{
    (void)state;
    static const char *const good[] = {"dh1-0123456789ab", "dh2-ffffffffffff", "dh2-000000000000"};
    static const char *const bad[] = {"",
                                      "dh2-",
                                      "dh2-0123456789a",
                                      "dh2-0123456789abc",
                                      "dh2-0123456789aB",
                                      "dh2-0123456789a ",
                                      "dh0-0123456789ab",
                                      "dh3-0123456789ab",
                                      "DH2-0123456789ab",
                                      "dh20123456789abc"};
    for (size_t i = 0; i < DH_ARRAY_LEN(good); i++)
        assert_true(dh_fingerprint_is_valid(good[i], strlen(good[i])));
    for (size_t i = 0; i < DH_ARRAY_LEN(bad); i++)
        assert_false(dh_fingerprint_is_valid(bad[i], strlen(bad[i])));
    assert_false(dh_fingerprint_is_valid("dh2-0123456789a\0", DH_FINGERPRINT_LENGTH));
}

/* What people have in files: neither the recipe of a version nor its hash may ever change. */
static void versions(void **state)
{
    (void)state;
    struct dh_symbol_frame frames[2] = {
        {.function = "bump",
         .unit_file = "src/a.c",
         .file = "/src/a.c",
         .line = 22,
         .column = 12,
         .origin = {.name = "bump", .home = "a.c", .line = 19, .unit = frames}},
        {.function = "main",
         .unit_file = "src/a.c",
         .file = "/src/a.c",
         .line = 48,
         .column = 13,
         .origin = {.name = "main", .line = 42, .unit = frames}},
    };
    struct dh_symbol_trace traces[2] = {{&frames[0], 1}, {&frames[1], 1}};
    struct dh_symbol_variable v = {
        .shape = "counter", .members = "", .findable = true, .origin = {.name = "counter"}};
    struct dh_fingerprint_race race = {
        .accesses = {{DH_MODEL_WRITE, false, &traces[0]}, {DH_MODEL_READ, true, &traces[1]}},
        .place = DH_MODEL_GLOBAL,
        .variable = &v,
    };
    struct dh_fingerprint f;
    dh_fingerprint_of(&arena, &race, &f);
    assert_string_equal(f.identity, "2|atomic read main+6:13|write bump@a.c+3:12|global counter");
    assert_string_equal(f.hash, "dh2-94efe3557b60");
    assert_string_equal(f.old_hash, "dh1-5625f10702cd");
    const char *const list[] = {"dh1-0123456789ab", f.old_hash, "dh2-0123456789ab"};
    assert_true(dh_fingerprint_is_listed(&f, list, 3));
    assert_false(dh_fingerprint_is_listed(&f, list, 1));
    assert_true(dh_fingerprint_is_listed(&f, (const char *const[]){f.hash}, 1));
    assert_false(dh_fingerprint_is_listed(&f, NULL, 0));
}

/* Debug information that was only found because of another race does not count, unless this race leads there. */
static void members_that_count(void **state)
{
    (void)state;
    int here, there;
    struct dh_symbol_frame frame = {
        .file = "a.c", .line = 1, .origin = {.name = "f", .line = 1, .unit = &here}};
    struct dh_symbol_trace trace = {&frame, 1};
    struct dh_symbol_variable v = {
        .shape = "v.n",
        .members = ".n",
        .symbol = "f.v",
        .origin = {.name = "v", .home = "a.c", .unit = &there},
    };
    struct dh_fingerprint_race race = {
        .accesses = {{DH_MODEL_WRITE, false, &trace}, {DH_MODEL_WRITE, false, &trace}},
        .place = DH_MODEL_GLOBAL,
        .variable = &v,
    };
    struct dh_fingerprint f;
    dh_fingerprint_of(&arena, &race, &f);
    assert_string_equal(f.identity, "2|write f+0:0|write f+0:0|global f.v");
    v.origin.unit = &here;
    dh_fingerprint_of(&arena, &race, &f);
    assert_string_equal(f.identity, "2|write f+0:0|write f+0:0|global v@a.c.n");
    v.origin.unit = &there;
    v.findable = true;
    dh_fingerprint_of(&arena, &race, &f);
    assert_string_equal(f.identity, "2|write f+0:0|write f+0:0|global v@a.c.n");
}

/* Who allocates for others does not count, nor what is below him in a library. */
static void allocators(void **state)
{
    (void)state;
    struct dh_symbol_frame frames[] = {
        {.file = "/usr/include/x.h", .line = 1, .origin = {.name = "library", .line = 1, .unit = frames}},
        {.file = "a.c",
         .line = 1,
         .origin = {.name = "xmalloc", .line = 1, .allocates = true, .unit = frames}},
        {.file = "a.c", .line = 1, .origin = {.name = "open", .line = 1, .unit = frames}},
        {.file = "a.c", .line = 1, .origin = {.name = "main", .line = 1, .unit = frames}},
    };
    struct dh_symbol_trace none = {0}, trace = {frames, 4};
    struct dh_fingerprint_race race = {
        .accesses = {{.stack = &none}, {.stack = &none}}, .place = DH_MODEL_HEAP, .allocated_at = &trace};
    static const char *const want[] = {"?", "library+0:0", "xmalloc+0:0", "open+0:0", "open+0:0"};
    for (size_t n = 0; n <= 4; n++) {
        struct dh_fingerprint f;
        trace.n = n;
        dh_fingerprint_of(&arena, &race, &f);
        assert_string_equal(f.identity, dh_arena_printf(&arena, "2|read ?|read ?|heap %s", want[n]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places),     cmocka_unit_test(memories),
        cmocka_unit_test(validity),   cmocka_unit_test(sides_have_no_order),
        cmocka_unit_test(versions),   cmocka_unit_test(members_that_count),
        cmocka_unit_test(allocators),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dh_arena_done(&arena);
    return failed;
}
