/*
 * test_pairs.c - src/report/pairs*.c: building, finding, writing, and reading what may be damaged.
 */
#include "report/pairs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "report/pairs_code.h"
#include "unit/check.h"

static struct dh_pairs_site site(const char *function, u32 line, u8 access)
{
    return (struct dh_pairs_site){.module = "a.c",
                                  .function = function,
                                  .at = {.file = "a.c",
                                         .dir = "/x",
                                         .line = line,
                                         .column = 5,
                                         .declared = line - 1,
                                         .internal = line % 2},
                                  .access = access,
                                  .size = 4};
}

/* A table with something in each part. */
static struct dh_pairs *sample(void)
{
    struct dh_pairs *p = dh_pairs_new();
    dh_pairs_set_program(p, "prog", "deadheat 0 with LLVM 19", NULL);
    struct dh_pairs_site a = site("worker", 10, DH_PAIRS_WRITE), b = site("main", 20, DH_PAIRS_READ);
    u32 sa = dh_pairs_add_site(p, &a), sb = dh_pairs_add_site(p, &b);
    struct dh_pairs_variable v = {.storage = DH_PAIRS_GLOBAL,
                                  .name = "stats",
                                  .path = ".hits",
                                  .type = "struct stats",
                                  .at = {.file = "a.c", .line = 3}};
    u32 var = dh_pairs_add_variable(p, &v);
    struct dh_pairs_lock l = {.kind = DH_PAIRS_RWLOCK, .single = true, .name = "guard"};
    u32 held[] = {dh_pairs_held(dh_pairs_add_lock(p, &l), true)};
    struct dh_pairs_entry main_thread = {.kind = DH_PAIRS_MAIN, .function = "main"};
    struct dh_pairs_entry worker = {.kind = DH_PAIRS_THREAD,
                                    .many = true,
                                    .function = "worker",
                                    .creator = "main",
                                    .api = "pthread_create",
                                    .at = {.file = "a.c", .line = 30}};
    u32 entries[] = {dh_pairs_add_entry(p, &main_thread), dh_pairs_add_entry(p, &worker)};
    struct dh_pairs_pair pair = {
        .side = {{sb, dh_pairs_add_list(p, held, 1), dh_pairs_add_list(p, entries, 1)},
                 {sa, 0, dh_pairs_add_list(p, entries + 1, 1)}},
        .variables = dh_pairs_add_list(p, &var, 1),
        .flags = DH_PAIRS_RELAY | DH_PAIRS_SOUND,
        .reasons = DH_PAIRS_BY_ONE_UNLOCKED,
        .note = "a note",
    };
    dh_pairs_add_pair(p, &pair);
    dh_pairs_assumed(p, "inline-asm", "inline assembly does not touch shared memory", 2, "a.c:7");
    dh_pairs_assumed(p, "inline-asm", NULL, 1, "a.c:9");
    dh_pairs_add_phase(p, "points-to", 1500000, 4096);
    dh_pairs_add_counter(p, "instructions", 300);
    dh_pairs_add_counter(p, "instructions", 1ull << 40);
    return p;
}

static void building(void **state)
{
    (void)state;
    struct dh_pairs *p = sample();
    assert_int_equal(p->n_pairs, 1);
    const struct dh_pairs_pair *pair = &p->pairs[0];
    assert_int_equal(pair->side[0].site, 0); /* the lower first, whatever the order given */
    assert_int_equal(pair->side[0].locks, 0);
    size_t n;
    const u32 *held = dh_pairs_items(p, pair->side[1].locks, &n);
    assert_int_equal(n, 1);
    assert_true(dh_pairs_held_shared(held[0]));
    assert_string_equal(p->locks[dh_pairs_held_lock(held[0])].name, "guard");
    assert_int_equal(dh_pairs_find_pair(p, pair->id), 0);
    assert_int_equal(dh_pairs_find_pair(p, pair->id + 1), DH_PAIRS_NONE);
    assert_int_equal(dh_pairs_find_site(p, p->sites[1].id), 1);
    assert_int_equal(dh_pairs_find_site(p, 0), DH_PAIRS_NONE);
    const u32 *examples = dh_pairs_items(p, p->assumptions[0].examples, &n);
    assert_int_equal(n, 2);
    assert_string_equal(dh_pairs_string(p, examples[1]), "a.c:9");
    assert_int_equal(p->assumptions[0].count, 3);
    assert_true(dh_pairs_counter(p, "instructions") == (1ull << 40) + 300);
    assert_true(dh_pairs_counter(p, "none") == 0);
    dh_pairs_free(p);
    dh_pairs_free(NULL);
}

/* A function that moves within its file keeps the ids of its sites; what moves within the function does not. */
static void moving(void **state)
{
    (void)state;
    struct dh_pairs *before = dh_pairs_new(), *after = dh_pairs_new();
    const struct dh_pairs_site sites[] = {site("f", 10, DH_PAIRS_READ), site("f", 30, DH_PAIRS_READ)};
    struct dh_pairs_site inside = sites[1], unknown = sites[0];
    inside.at.line++;
    unknown.at.declared = 0;
    dh_pairs_add_site(before, &sites[0]);
    dh_pairs_add_site(after, &sites[1]);
    dh_pairs_add_site(after, &inside);
    dh_pairs_add_site(after, &unknown);
    u64 id = before->sites[0].id;
    assert_int_equal(after->sites[0].id, id);
    assert_int_not_equal(after->sites[1].id, id);
    assert_int_not_equal(after->sites[2].id, id);
    unknown.at.line += 20;
    dh_pairs_add_site(after, &unknown);
    assert_int_not_equal(after->sites[3].id, after->sites[2].id);
    /* In one table they are two all the same. */
    dh_pairs_add_site(before, &sites[1]);
    assert_int_not_equal(before->sites[1].id, id);
    assert_int_equal(before->sites[1].ordinal, 1);
    dh_pairs_free(before);
    dh_pairs_free(after);
}

static u8 *with_head(u8 *bytes, size_t n, u8 version)
{
    const u64 length = n - DH_PAIRS_AT_BODY, hash = XXH64(bytes + DH_PAIRS_AT_BODY, length, 0);
    bytes[DH_PAIRS_AT_VERSION] = version;
    memcpy(bytes + DH_PAIRS_AT_LENGTH, &length, 8);
    memcpy(bytes + DH_PAIRS_AT_HASH, &hash, 8);
    return bytes;
}

/* What a function says is kept, and is not part of ids. Tables from before there was such a number are still
 * read; those of a later version are not. */
static void code(void **state)
{
    (void)state;
    enum { AFTER_SITES = 7 }; /* bytes: the counts of what there is none of */
    struct dh_pairs *p = dh_pairs_new(), *q;
    struct dh_pairs_site s = site("f", 1, DH_PAIRS_READ);
    const char *why;
    u8 *bytes;
    size_t n;
    s.code = 0x6f;
    dh_pairs_add_site(p, &s);
    const u64 id = p->sites[0].id;
    dh_pairs_write(p, &bytes, &n);
    assert_int_equal(dh_pairs_read(bytes, n, &q, &why), 0);
    assert_true(q->sites[0].code == 0x6f && q->sites[0].id == id);
    dh_pairs_free(q);
    assert_int_equal(dh_pairs_read(with_head(bytes, n, DH_PAIRS_VERSION + 1), n, &q, &why), -EPROTONOSUPPORT);
    assert_int_equal(dh_pairs_read(with_head(bytes, n, DH_PAIRS_OLDEST - 1), n, &q, &why), -EPROTONOSUPPORT);
    assert_int_equal(bytes[n - AFTER_SITES - 1], 0x6f);
    memmove(bytes + n - AFTER_SITES - 1, bytes + n - AFTER_SITES, AFTER_SITES);
    assert_int_equal(dh_pairs_read(with_head(bytes, n - 1, DH_PAIRS_OLDEST), n - 1, &q, &why), 0);
    assert_true(q->sites[0].code == 0 && q->sites[0].id == id);
    dh_pairs_free(q);
    dh_pairs_free(p);
    free(bytes);
}

static bool is_not(void *ctx, const struct dh_pairs_pair *pair)
{
    return pair->id != *(const u64 *)ctx;
}

/* Two sites, in either order, in a pair of their own, in a bundle, or in none. */
static void containing(void **state)
{
    (void)state;
    struct dh_pairs *p = dh_pairs_new();
    for (u32 i = 0; i < 6; i++) {
        struct dh_pairs_site s = site("f", i + 1, DH_PAIRS_WRITE);
        dh_pairs_add_site(p, &s);
    }
    const u32 more[2] = {2, 3};
    struct dh_pairs_pair single = {.side = {{.site = 0}, {.site = 1}}, .note = ""};
    struct dh_pairs_pair bundle = {.side = {{.site = 1}, {.site = 4}}, .note = ""};
    struct dh_pairs_pair other = {.side = {{.site = 3}, {.site = 4}}, .note = ""};
    bundle.alike[0] = dh_pairs_add_list(p, more, 2);
    dh_pairs_add_pair(p, &single);
    dh_pairs_add_pair(p, &bundle);
    dh_pairs_add_pair(p, &other);
    assert_int_equal(dh_pairs_find_containing(p, 0, 1, NULL, NULL), 0);
    assert_int_equal(dh_pairs_find_containing(p, 1, 0, NULL, NULL), 0);
    assert_int_equal(dh_pairs_find_containing(p, 4, 1, NULL, NULL), 1);
    assert_int_equal(dh_pairs_find_containing(p, 2, 4, NULL, NULL), 1);
    assert_int_equal(dh_pairs_find_containing(p, 4, 3, NULL, NULL), 1);
    assert_int_equal(dh_pairs_find_containing(p, 4, 3, is_not, &p->pairs[1].id), 2);
    assert_int_equal(dh_pairs_find_containing(p, 2, 4, is_not, &p->pairs[1].id), DH_PAIRS_NONE);
    assert_int_equal(dh_pairs_find_containing(p, 1, 2, NULL, NULL), DH_PAIRS_NONE); /* on one side */
    assert_int_equal(dh_pairs_find_containing(p, 5, 5, NULL, NULL), DH_PAIRS_NONE);
    assert_int_equal(dh_pairs_find_containing(p, 0, 0, NULL, NULL), DH_PAIRS_NONE);
    dh_pairs_free(p);
}

/* Sites that look alike are told apart by their order; whatever else differs makes another id. */
static void site_ids(void **state)
{
    (void)state;
    struct dh_pairs *p = dh_pairs_new(), *q = dh_pairs_new();
    struct dh_pairs_site s = site("f", 1, DH_PAIRS_READ);
    for (u32 i = 0; i < 1000; i++) {
        u32 at = dh_pairs_add_site(p, &s);
        assert_int_equal(at, i);
        assert_int_equal(p->sites[at].ordinal, i);
    }
    struct dh_pairs_site other[8];
    for (size_t i = 0; i < 8; i++)
        other[i] = s;
    other[0].module = "b.c";
    other[1].function = "g";
    other[2].at.file = "b.h";
    other[3].at.line = 2;
    other[4].at.column = 6;
    other[5].access = DH_PAIRS_WRITE;
    other[6].size = 8;
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(p->sites[dh_pairs_add_site(p, &other[i])].ordinal, 0);
    for (u32 i = 0; i < p->n_sites; i++)
        assert_int_equal(dh_pairs_find_site(p, p->sites[i].id), i);
    /* Where it was built does not count, nor what is around it. */
    s.at.dir = "/elsewhere";
    s.host = "h";
    dh_pairs_add_site(q, &other[0]);
    assert_true(q->sites[dh_pairs_add_site(q, &s)].id == p->sites[0].id);
    dh_pairs_free(p);
    dh_pairs_free(q);
}

static void equal_things_are_one(void **state)
{
    (void)state;
    struct dh_pairs *p = dh_pairs_new();
    u32 items[] = {3, 1, 2};
    assert_int_equal(dh_pairs_add_list(p, NULL, 0), 0);
    u32 list = dh_pairs_add_list(p, items, 3);
    assert_int_equal(dh_pairs_add_list(p, items, 3), list);
    assert_int_not_equal(dh_pairs_add_list(p, items, 2), list);
    struct dh_pairs_lock l = {.name = "m"}, other = {.name = "m", .single = true};
    assert_int_equal(dh_pairs_add_lock(p, &l), 0);
    assert_int_equal(dh_pairs_add_lock(p, &other), 1);
    assert_int_equal(dh_pairs_add_lock(p, &l), 0);
    char name[2] = "m";
    assert_ptr_equal(dh_pairs_intern(p, name), p->locks[0].name);
    struct dh_pairs_site a = site("f", 1, DH_PAIRS_WRITE), b = site("f", 2, DH_PAIRS_WRITE);
    dh_pairs_add_site(p, &a);
    dh_pairs_add_site(p, &b);
    struct dh_pairs_pair pair = {.side = {{.site = 1}, {.site = 0}}, .flags = DH_PAIRS_SOUND};
    struct dh_pairs_pair again = {.side = {{.site = 0}, {.site = 1}}, .flags = DH_PAIRS_RELAY};
    assert_int_equal(dh_pairs_add_pair(p, &pair), dh_pairs_add_pair(p, &again));
    assert_int_equal(p->pairs[0].flags, DH_PAIRS_SOUND | DH_PAIRS_RELAY);
    pair.side[1].site = 1;
    assert_int_equal(dh_pairs_add_pair(p, &pair), 1); /* a site with itself */
    dh_pairs_free(p);
}

/* What drops one way for a pair to happen does not drop the pair. */
static void found_again(void **state)
{
    (void)state;
    struct dh_pairs *p = dh_pairs_new();
    struct dh_pairs_site a = site("f", 1, DH_PAIRS_WRITE), b = site("f", 2, DH_PAIRS_WRITE);
    dh_pairs_add_site(p, &a);
    dh_pairs_add_site(p, &b);
    const u32 one[] = {1, 2}, two[] = {2, 3};
    u32 x = dh_pairs_add_list(p, one, 2), y = dh_pairs_add_list(p, two, 2);
    u32 sound_if = DH_PAIRS_IF_EXIT << DH_PAIRS_FOR_SOUND;
    struct dh_pairs_pair first = {.side = {{.site = 0, .locks = x, .entries = x}, {.site = 1}},
                                  .flags = DH_PAIRS_RELAY | DH_PAIRS_IF_EXIT | DH_PAIRS_IF_CALLBACKS};
    struct dh_pairs_pair second = {.side = {{.site = 0, .locks = y, .entries = y}, {.site = 1}},
                                   .flags = DH_PAIRS_RELAY | DH_PAIRS_IF_EXIT | DH_PAIRS_SOUND | sound_if};
    dh_pairs_add_pair(p, &first);
    dh_pairs_add_pair(p, &second);
    assert_int_equal(p->n_pairs, 1);
    assert_int_equal(p->pairs[0].flags, DH_PAIRS_RELAY | DH_PAIRS_SOUND | DH_PAIRS_IF_EXIT | sound_if);
    size_t n;
    const u32 *items = dh_pairs_items(p, p->pairs[0].side[0].locks, &n);
    assert_int_equal(n, 1);
    assert_int_equal(items[0], 2);
    dh_pairs_items(p, p->pairs[0].side[0].entries, &n);
    assert_int_equal(n, 3);
    dh_pairs_free(p);
}

static void strings(void **state)
{
    (void)state;
    struct dh_pairs *p = dh_pairs_new();
    char text[16];
    for (int i = 0; i < 1000; i++) { /* enough for the array to move */
        snprintf(text, sizeof(text), "name%d", i);
        assert_string_equal(dh_pairs_intern(p, text), text);
    }
    assert_ptr_equal(dh_pairs_intern(p, "name7"), p->strings[8]);
    assert_ptr_equal(dh_pairs_intern(p, NULL), dh_pairs_intern(p, ""));
    assert_string_equal(dh_pairs_intern(p, "a\033[1m\nb\177"), "a?[1m?b?");
    assert_int_equal(p->n_strings, 1002);
    dh_pairs_intern(p, "a\033[1m\nb\177");
    assert_int_equal(p->n_strings, 1002);
    assert_string_equal(dh_pairs_intern(p, "\xc3\xa4"), "\xc3\xa4");
    dh_pairs_free(p);
}

static void round_trip(void **state)
{
    (void)state;
    struct dh_pairs *p = sample(), *q = NULL;
    p->no_threads = true;
    u8 *bytes, *again;
    size_t n, m;
    const char *why = NULL;
    dh_pairs_write(p, &bytes, &n);
    bytes = realloc(bytes, n + 3); /* a section may be padded */
    memset(bytes + n, 0xff, 3);
    assert_int_equal(dh_pairs_read(bytes, n + 3, &q, &why), 0);
    dh_pairs_write(q, &again, &m);
    assert_int_equal(n, m);
    assert_memory_equal(bytes, again, n);
    assert_true(q->no_threads);
    assert_string_equal(q->program, "prog");
    assert_string_equal(q->pairs[0].note, "a note");
    assert_true(q->sites[1].id == p->sites[1].id && q->pairs[0].id == p->pairs[0].id);
    assert_string_equal(q->variables[0].path, ".hits");
    assert_string_equal(q->entries[1].api, "pthread_create");
    assert_int_equal(q->phases[0].microseconds, 1500000);
    assert_true(dh_pairs_find_site(q, p->sites[1].id) == 1);
    free(bytes);
    free(again);
    dh_pairs_free(p);
    dh_pairs_free(q);
}

static void damaged(void **state)
{
    (void)state;
    struct dh_pairs *p = sample(), *q = NULL;
    u8 *bytes;
    size_t n;
    const char *why = NULL;
    dh_pairs_write(p, &bytes, &n);
    for (size_t len = 0; len < n; len++) {
        why = NULL;
        assert_int_equal(dh_pairs_read(bytes, len, &q, &why), -EBADMSG);
        assert_non_null(why);
    }
    for (size_t i = 0; i < n; i++) {
        bytes[i] ^= 0x40;
        int rc = dh_pairs_read(bytes, n, &q, &why);
        assert_int_equal(rc, i >= 8 && i < 16 ? -EPROTONOSUPPORT : -EBADMSG);
        bytes[i] ^= 0x40;
    }
    assert_null(q);
    free(bytes);
    dh_pairs_free(p);
}

static void words(void **state)
{
    (void)state;
    for (u32 bit = 1; bit < DH_PAIRS_REASONS; bit <<= 1) {
        assert_true(dh_pairs_reason(bit)->sentence[0] != '\0');
        assert_true(dh_pairs_reason(bit)->name[0] != '\0');
    }
    for (u32 bit = 1; bit <= DH_PAIRS_IF_MEMBERS; bit <<= 1)
        assert_true(dh_pairs_flag(bit)->name[0] != '\0');
    assert_string_equal(dh_pairs_flag(DH_PAIRS_IF_OWNED)->name, "if-owned");
    assert_string_equal(dh_pairs_reason(DH_PAIRS_BY_FREE)->name, "free");
    assert_true(dh_pairs_access_writes(DH_PAIRS_FREE));
    assert_false(dh_pairs_access_writes(DH_PAIRS_ATOMIC_READ));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(building),   cmocka_unit_test(moving),      cmocka_unit_test(code),
        cmocka_unit_test(containing), cmocka_unit_test(site_ids),    cmocka_unit_test(equal_things_are_one),
        cmocka_unit_test(strings),    cmocka_unit_test(round_trip),  cmocka_unit_test(damaged),
        cmocka_unit_test(words),      cmocka_unit_test(found_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
