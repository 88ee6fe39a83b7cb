/*
 * pairs_read.c - reads a table of pairs from untrusted bytes; pairs_code.h describes the format.
 *
 * Every number is checked where it is read: a count against the remaining bytes, an index against what it
 * refers to. So memory use stays proportional to the input, and the result is a table that the builder could
 * have made. The first error is kept in `why`; after it, every read returns 0 and every loop ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "report/pairs_code.h"
#include "report/pairs_impl.h"

struct in {
    struct dh_pairs *pairs;
    const u8 *at, *end;
    u64 version;
    const char *why; /* NULL: no error so far */
};

static void fail(struct in *in, const char *why)
{
    if (!in->why)
        in->why = why;
}

static u64 get(struct in *in)
{
    u64 x = 0;
    for (int shift = 0; !in->why; shift += 7) {
        if (in->at == in->end) {
            fail(in, "it ends in the middle");
            break;
        }
        u8 byte = *in->at++;
        if (shift == 63 && byte > 1) {
            fail(in, "it holds a number that is too large");
            break;
        }
        x |= (u64)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            if (byte == 0 && shift)
                fail(in, "it holds a number that is longer than it must be");
            return in->why ? 0 : x;
        }
    }
    return 0;
}

/* A number below the limit. */
static u32 get_below(struct in *in, u64 limit, const char *why)
{
    u64 x = get(in);
    if (!in->why && x >= limit)
        fail(in, why);
    return in->why ? 0 : (u32)x;
}

static u32 get_u32(struct in *in)
{
    return get_below(in, (u64)UINT32_MAX + 1, "it holds a number that is too large");
}

/* A count of elements that follow, each of at least `least` bytes. */
static size_t get_count(struct in *in, size_t least)
{
    u64 n = get(in);
    if (!in->why && n > (size_t)(in->end - in->at) / least)
        fail(in, "it counts more than it holds");
    return in->why ? 0 : (size_t)n;
}

static const char *get_string(struct in *in)
{
    return in->pairs->strings[get_below(in, in->pairs->n_strings, "it names a string that it does not have")];
}

static u32 get_list(struct in *in, u64 limit)
{
    u32 list = get_below(in, in->pairs->n_lists, "it names a list that it does not have");
    if (in->pairs->lists[list].n && in->pairs->lists[list].max >= limit)
        fail(in, "a list of it names what it does not have");
    return list;
}

static struct dh_pairs_place get_place(struct in *in)
{
    struct dh_pairs_place at = {.file = get_string(in), .dir = get_string(in)};
    at.line = get_u32(in);
    at.column = get_u32(in);
    at.declared = get_u32(in);
    at.internal = get_below(in, 2, "it holds a flag that is neither yes nor no");
    return at;
}

static void get_texts(struct in *in)
{
    struct dh_pairs *p = in->pairs;
    size_t count = get_count(in, 1);
    for (size_t i = 0; i < count && !in->why; i++) {
        size_t len = get_count(in, 1);
        if (in->why)
            return;
        for (size_t k = 0; k < len; k++)
            if (dh_pairs_is_control((char)in->at[k]))
                fail(in, "it holds a string with a control character");
        if (in->why)
            return;
        struct dh_arena scratch = {0};
        size_t before = p->n_strings;
        dh_pairs_intern(p, dh_arena_dup(&scratch, (const char *)in->at, len));
        dh_arena_done(&scratch);
        if (p->n_strings == before)
            fail(in, "it holds a string twice");
        in->at += len;
    }
}

static void get_lists(struct in *in)
{
    struct dh_pairs *p = in->pairs;
    size_t count = get_count(in, 2); /* only the first list is empty */
    u32 *items = NULL;
    size_t cap = 0;
    for (size_t i = 0; i < count && !in->why; i++) {
        size_t n = get_count(in, 1), before = p->n_lists;
        if (n > cap) {
            cap = n;
            items = dh_util_realloc(items, cap * sizeof(*items));
        }
        for (size_t k = 0; k < n; k++)
            items[k] = get_u32(in);
        if (!in->why && dh_pairs_add_list(p, items, n) < before)
            fail(in, "it holds a list twice");
    }
    free(items);
}

static void get_sites(struct in *in)
{
    size_t count = get_count(in, 12);
    for (size_t i = 0; i < count && !in->why; i++) {
        struct dh_pairs_site s = {.module = get_string(in)};
        s.function = get_string(in);
        s.host = get_string(in);
        s.at = get_place(in);
        s.access = (u8)get_below(in, DH_PAIRS_ACCESSES, "it holds an unknown kind of access");
        s.size = get_u32(in);
        s.ordinal = get_u32(in);
        s.code = in->version > DH_PAIRS_OLDEST ? get(in) : 0;
        if (!in->why && !dh_pairs_put_site(in->pairs, &s))
            fail(in, "it holds a site twice");
    }
}

static void get_variables(struct in *in)
{
    size_t count = get_count(in, 11);
    for (size_t i = 0; i < count && !in->why; i++) {
        struct dh_pairs_variable v = {0};
        v.storage = (u8)get_below(in, DH_PAIRS_STORAGES, "it holds an unknown kind of variable");
        v.name = get_string(in);
        v.path = get_string(in);
        v.type = get_string(in);
        v.function = get_string(in);
        v.at = get_place(in);
        if (!in->why && dh_pairs_add_variable(in->pairs, &v) != i)
            fail(in, "it holds a variable twice");
    }
}

static void get_locks_and_entries(struct in *in)
{
    size_t count = get_count(in, 8);
    for (size_t i = 0; i < count && !in->why; i++) {
        u32 kind = get_below(in, DH_PAIRS_LOCK_KINDS * 2, "it holds an unknown kind of lock");
        struct dh_pairs_lock l = {.kind = (u8)(kind >> 1), .single = kind & 1, .name = get_string(in)};
        l.at = get_place(in);
        if (!in->why && dh_pairs_add_lock(in->pairs, &l) != i)
            fail(in, "it holds a lock twice");
    }
    count = get_count(in, 10);
    for (size_t i = 0; i < count && !in->why; i++) {
        u32 kind = get_below(in, DH_PAIRS_ENTRY_KINDS * 2, "it holds an unknown kind of entry point");
        struct dh_pairs_entry e = {.kind = (u8)(kind >> 1), .many = kind & 1, .function = get_string(in)};
        e.creator = get_string(in);
        e.api = get_string(in);
        e.at = get_place(in);
        if (!in->why && dh_pairs_add_entry(in->pairs, &e) != i)
            fail(in, "it holds an entry point twice");
    }
}

static void get_pairs(struct in *in)
{
    struct dh_pairs *p = in->pairs;
    size_t count = get_count(in, 12);
    for (size_t i = 0; i < count && !in->why; i++) {
        struct dh_pairs_pair pair = {0};
        u32 first = get_below(in, p->n_sites, "it names a site that it does not have");
        pair.side[0].site = first;
        pair.side[1].site =
            first + get_below(in, p->n_sites - first, "it names a site that it does not have");
        for (int k = 0; k < 2; k++) {
            pair.side[k].locks = get_list(in, (u64)p->n_locks * 2);
            pair.side[k].entries = get_list(in, p->n_entries);
            pair.alike[k] = get_list(in, p->n_sites);
        }
        pair.variables = get_list(in, p->n_variables);
        pair.flags = get_below(in, DH_PAIRS_FLAGS + 1u, "it holds unknown flags");
        pair.reasons = get_below(in, DH_PAIRS_REASONS + 1u, "it holds unknown reasons");
        pair.note = get_string(in);
        if (!in->why && !dh_pairs_put_pair(p, &pair))
            fail(in, "it holds a pair twice");
    }
}

static void get_figures(struct in *in)
{
    struct dh_pairs *p = in->pairs;
    size_t count = get_count(in, 4);
    for (size_t i = 0; i < count && !in->why; i++) {
        const char *name = get_string(in), *sentence = get_string(in);
        u64 n = get(in);
        u32 examples = get_list(in, p->n_strings);
        dh_pairs_assumed(p, name, sentence, n, NULL);
        if (p->n_assumptions != i + 1)
            fail(in, "it holds an assumption twice");
        else
            p->assumptions[i].examples = examples;
    }
    count = get_count(in, 3);
    for (size_t i = 0; i < count && !in->why; i++) {
        const char *name = get_string(in);
        u64 microseconds = get(in);
        dh_pairs_add_phase(p, name, microseconds, get(in));
    }
    count = get_count(in, 2);
    for (size_t i = 0; i < count && !in->why; i++) {
        const char *name = get_string(in);
        dh_pairs_add_counter(p, name, get(in));
        if (p->n_counters != i + 1)
            fail(in, "it holds a counter twice");
    }
}

static void get_body(struct in *in)
{
    struct dh_pairs *p = in->pairs;
    get_texts(in);
    get_lists(in);
    p->program = get_string(in);
    p->producer = get_string(in);
    p->options = get_string(in);
    p->no_threads = get_below(in, 2, "it holds unknown flags");
    get_sites(in);
    get_variables(in);
    get_locks_and_entries(in);
    get_pairs(in);
    get_figures(in);
    if (!in->why && in->at != in->end)
        fail(in, "it holds more than it should");
}

static u64 get_fixed(const u8 *at, int n)
{
    u64 x = 0;
    for (int i = 0; i < n; i++)
        x |= (u64)at[i] << (8 * i);
    return x;
}

/* 0 and the body, or as dh_pairs_read. */
static int check_head(const u8 *bytes, size_t len, u64 *ret_version, size_t *ret_body, const char **ret_why)
{
    if (len < DH_PAIRS_AT_BODY || memcmp(bytes, DH_PAIRS_MAGIC, sizeof(DH_PAIRS_MAGIC)) != 0) {
        *ret_why = "it does not begin like one";
        return -EBADMSG;
    }
    u64 version = get_fixed(bytes + DH_PAIRS_AT_VERSION, 8);
    if (version < DH_PAIRS_OLDEST || version > DH_PAIRS_VERSION) {
        *ret_why = "it was written by another version of deadheat";
        return -EPROTONOSUPPORT;
    }
    u64 body = get_fixed(bytes + DH_PAIRS_AT_LENGTH, 8);
    if (body > len - DH_PAIRS_AT_BODY) {
        *ret_why = "it is cut off";
        return -EBADMSG;
    }
    if (XXH64(bytes + DH_PAIRS_AT_BODY, body, 0) != get_fixed(bytes + DH_PAIRS_AT_HASH, 8)) {
        *ret_why = "its checksum is wrong";
        return -EBADMSG;
    }
    *ret_version = version;
    *ret_body = body;
    return 0;
}

int dh_pairs_read(const void *bytes, size_t len, struct dh_pairs **ret, const char **ret_why)
{
    size_t body;
    u64 version;
    int rc = check_head(bytes, len, &version, &body, ret_why);
    if (rc != 0)
        return rc;
    struct in in = {.pairs = dh_pairs_new(), .version = version};
    in.at = (const u8 *)bytes + DH_PAIRS_AT_BODY;
    in.end = in.at + body;
    get_body(&in);
    if (in.why) {
        dh_pairs_free(in.pairs);
        *ret_why = in.why;
        return -EBADMSG;
    }
    *ret = in.pairs;
    return 0;
}
