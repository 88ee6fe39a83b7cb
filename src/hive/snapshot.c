/*
 * snapshot.c - see snapshot.h.
 *
 * Arrays are written as they are in memory, so a snapshot is usable only by a program with the same
 * structures: their sizes are part of the header. A structure with pointers is written with these cleared,
 * followed by what they point to. The bytes come from the database and are as trusted as the log; the
 * checksum is there to detect damage, and lengths are checked all the same.
 *
 * Adding a field to one of these structures triggers an assertion below: a number needs no further code, but
 * the target of a pointer has to be written and read here. Increment FORMAT whenever apply.c derives a
 * different state from the same log.
 */
#include "hive/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "hive/state_impl.h"

enum { FORMAT = 6, AT_ONCE = 4 << 20 };
#define MAGIC 0x706e736576696864ull /* "dhivesnp" */

_Static_assert(sizeof(struct dh_hive_program) == 168, "dh_hive_program has changed: see above");
_Static_assert(sizeof(struct dh_hive_build) == 232, "dh_hive_build has changed: see above");
_Static_assert(sizeof(struct dh_hive_unit) == 280, "dh_hive_unit has changed: see above");
_Static_assert(sizeof(struct dh_hive_tried) == sizeof(u64), "the value of a map");

struct head {
    u64 magic;
    u32 format, sizes[9];
    u64 seq, time_us, n_results;
    u64 n_programs, n_builds, n_units, n_sites, n_users, n_tasks;
};

static struct head head_of(const struct dh_hive_state *s)
{
    return (struct head){
        .magic = MAGIC,
        .format = FORMAT,
        .sizes = {sizeof(struct dh_hive_program), sizeof(struct dh_hive_build), sizeof(struct dh_hive_unit),
                  sizeof(struct dh_hive_user), sizeof(struct dh_hive_task), sizeof(struct dh_hive_record),
                  sizeof(struct dh_hive_slot), sizeof(struct dh_hive_key), sizeof(struct dh_hive_site)},
        .seq = s->seq,
        .time_us = s->time_us,
        .n_results = s->n_results,
        .n_programs = s->n_programs,
        .n_builds = s->n_builds,
        .n_units = s->n_units,
        .n_sites = s->n_sites,
        .n_users = s->n_users,
        .n_tasks = s->n_tasks};
}

/* ---- Writing ---- */

struct writer {
    int (*take)(void *ctx, const void *bytes, size_t len);
    void *ctx;
    char *buffer;
    size_t len;
    XXH3_state_t *sum;
    int rc;
};

static void flush(struct writer *w)
{
    if (!w->rc && w->len)
        w->rc = w->take(w->ctx, w->buffer, w->len);
    w->len = 0;
}

static void put(struct writer *w, const void *bytes, size_t len)
{
    for (size_t done = 0, part; done < len; done += part) {
        if (w->len == AT_ONCE)
            flush(w);
        part = len - done < AT_ONCE - w->len ? len - done : AT_ONCE - w->len;
        memcpy(w->buffer + w->len, (const char *)bytes + done, part);
        w->len += part;
    }
    if (len)
        XXH3_64bits_update(w->sum, bytes, len);
}

static void put_bytes(struct writer *w, const void *bytes, size_t len)
{
    u64 n = len;
    put(w, &n, sizeof(n));
    put(w, bytes, len);
}

#define PUT_ARRAY(w, items, n) put_bytes(w, items, (n) * sizeof(*(items)))

static void put_map(struct writer *w, const struct dh_map *m, const struct dh_map *tried)
{
    u64 n = m->n;
    size_t at = 0;
    const void *key;
    u32 len;
    void *value;
    put(w, &n, sizeof(n));
    for (size_t key_len; dh_map_next(m, &at, &key, &key_len, &value);) {
        u64 number = (u64)(uintptr_t)value;
        if (m == tried)
            memcpy(&number, value, sizeof(number));
        len = (u32)key_len;
        put(w, &len, sizeof(len));
        put(w, key, key_len);
        put(w, &number, sizeof(number));
    }
}

static void put_program(struct writer *w, const struct dh_hive_program *p)
{
    struct dh_hive_program x = *p;
    x.name = NULL;
    x.keys = NULL;
    x.builds = NULL;
    x.units = x.sites = (struct dh_map){0};
    put(w, &x, sizeof(x));
    put_bytes(w, p->name, strlen(p->name) + 1);
    PUT_ARRAY(w, p->keys, p->n_keys);
    PUT_ARRAY(w, p->builds, p->n_builds);
    put_map(w, &p->units, NULL);
    put_map(w, &p->sites, NULL);
}

static void put_build(struct writer *w, const struct dh_hive_build *b)
{
    struct dh_hive_build x = *b;
    u8 *table;
    size_t len;
    x.id = NULL;
    x.table = NULL;
    x.source = NULL;
    x.symbols = NULL;
    x.slots = NULL;
    x.open = NULL;
    memset(x.idle, 0, sizeof(x.idle));
    x.queue = NULL;
    put(w, &x, sizeof(x));
    put_bytes(w, b->id, strlen(b->id) + 1);
    dh_pairs_write(b->table, &table, &len);
    put_bytes(w, table, len);
    free(table);
    char *source = b->source ? dh_hive_source_document(b->source->lines, b->source->n) : NULL;
    put_bytes(w, source, source ? strlen(source) : 0);
    free(source);
    const char *symbols = dh_hive_symbols_bytes(b->symbols, &len);
    put_bytes(w, symbols, len);
    PUT_ARRAY(w, b->slots, b->n_slots);
    PUT_ARRAY(w, b->open, b->n_open);
    for (int hope = 0; hope < DH_HIVE_HOPES; hope++)
        PUT_ARRAY(w, b->idle[hope], b->n_idle[hope]);
    PUT_ARRAY(w, b->queue, b->n_queue);
}

static void put_unit(struct writer *w, const struct dh_hive_unit *u)
{
    struct dh_hive_unit x = *u;
    x.records = NULL;
    x.in = NULL;
    memset(x.stacks, 0, sizeof(x.stacks));
    put(w, &x, sizeof(x));
    PUT_ARRAY(w, u->records, u->n_records);
    PUT_ARRAY(w, u->in, u->n_in);
    for (int order = 0; order < DH_HIVE_ORDERS; order++)
        put_bytes(w, u->stacks[order], u->stacks[order] ? sizeof(*u->stacks[order]) : 0);
}

int dh_hive_snapshot_write(const struct dh_hive_state *s,
                           int (*take)(void *ctx, const void *bytes, size_t len), void *ctx)
{
    struct writer w = {.take = take, .ctx = ctx, .buffer = dh_util_alloc(AT_ONCE), .sum = XXH3_createState()};
    struct head head = head_of(s);
    if (!w.sum)
        dh_util_no_memory();
    XXH3_64bits_reset(w.sum);
    put(&w, &head, sizeof(head));
    for (size_t i = 0; i < s->n_programs; i++)
        put_program(&w, &s->programs[i]);
    for (size_t i = 0; i < s->n_builds; i++)
        put_build(&w, &s->builds[i]);
    for (size_t i = 0; i < s->n_units; i++)
        put_unit(&w, &s->units[i]);
    PUT_ARRAY(&w, s->sites, s->n_sites);
    PUT_ARRAY(&w, s->users, s->n_users);
    PUT_ARRAY(&w, s->tasks, s->n_tasks);
    put_map(&w, &s->program_by_name, NULL);
    put_map(&w, &s->build_by_id, NULL);
    put_map(&w, &s->user_by_hash, NULL);
    put_map(&w, &s->results, NULL);
    put_map(&w, &s->runs, NULL);
    put_map(&w, &s->tried, &s->tried);
    u64 sum = XXH3_64bits_digest(w.sum);
    put(&w, &sum, sizeof(sum));
    flush(&w);
    XXH3_freeState(w.sum);
    free(w.buffer);
    return w.rc;
}

/* ---- Reading ---- */

struct reader {
    const char *at, *end;
    bool bad; /* everything after it reads as zeros */
};

static void get(struct reader *r, void *to, size_t len)
{
    if (r->bad || (size_t)(r->end - r->at) < len) {
        r->bad = true;
        memset(to, 0, len);
        return;
    }
    memcpy(to, r->at, len);
    r->at += len;
}

/* What put_bytes wrote, in place. */
static const char *get_bytes(struct reader *r, size_t *ret_len)
{
    u64 n;
    get(r, &n, sizeof(n));
    if (r->bad || n > (u64)(r->end - r->at)) {
        r->bad = true;
        *ret_len = 0;
        return "";
    }
    r->at += n;
    *ret_len = (size_t)n;
    return r->at - n;
}

static const char *get_text(struct reader *r, struct dh_arena *arena)
{
    size_t len;
    const char *text = get_bytes(r, &len);
    if (!len || text[len - 1])
        r->bad = true;
    return dh_arena_dup(arena, text, len);
}

/* An array of n items, with room for more; NULL if there are none. */
static void *get_array(struct reader *r, size_t n, size_t *ret_cap, size_t size)
{
    size_t len;
    const char *bytes = get_bytes(r, &len);
    *ret_cap = 0;
    if (r->bad || len / size != n || len % size) {
        r->bad = true;
        return NULL;
    }
    if (!n)
        return NULL;
    void *items = dh_util_realloc(NULL, len + len / 4 + size);
    *ret_cap = (len + len / 4 + size) / size;
    memcpy(items, bytes, len);
    return items;
}

enum values { NUMBERS, TRIED, MARKS };

static void get_map(struct reader *r, struct dh_hive_state *s, struct dh_map *m, enum values values)
{
    u64 n, number;
    u32 len;
    get(r, &n, sizeof(n));
    if (n > (u64)(r->end - r->at))
        r->bad = true;
    if (!r->bad)
        dh_map_reserve(m, (size_t)n);
    for (u64 i = 0; i < n && !r->bad; i++) {
        get(r, &len, sizeof(len));
        const char *key = r->at;
        if (r->bad || len > (size_t)(r->end - r->at)) {
            r->bad = true;
            return;
        }
        r->at += len;
        get(r, &number, sizeof(number));
        void *value = values == MARKS ? (void *)s : (void *)(uintptr_t)number;
        if (values == TRIED) {
            value = dh_arena_alloc(&s->arena, sizeof(number));
            memcpy(value, &number, sizeof(number));
        }
        if (value)
            dh_map_put(m, key, len, value);
    }
}

static void get_program(struct reader *r, struct dh_hive_state *s, struct dh_hive_program *p)
{
    get(r, p, sizeof(*p));
    p->name = get_text(r, &s->arena);
    p->keys = get_array(r, p->n_keys, &p->cap_keys, sizeof(*p->keys));
    p->builds = get_array(r, p->n_builds, &p->cap_builds, sizeof(*p->builds));
    dh_map_init(&p->units, &s->arena);
    get_map(r, s, &p->units, NUMBERS);
    dh_map_init(&p->sites, &s->arena);
    get_map(r, s, &p->sites, NUMBERS);
}

static void get_build(struct reader *r, struct dh_hive_state *s, struct dh_hive_build *b)
{
    size_t len;
    const char *why;
    get(r, b, sizeof(*b));
    b->id = get_text(r, &s->arena);
    const char *table = get_bytes(r, &len);
    if (r->bad || dh_pairs_read(table, len, &b->table, &why) != 0)
        r->bad = true;
    const char *source = get_bytes(r, &len);
    if (!r->bad && len && dh_hive_source_read(source, len, b->table, b->set, false, &b->source, &why) != 0)
        r->bad = true;
    const char *symbols = get_bytes(r, &len);
    if (!r->bad && len && dh_hive_symbols_read(symbols, len, &b->symbols, &why) != 0)
        r->bad = true;
    b->slots = get_array(r, b->n_slots, &b->cap_slots, sizeof(*b->slots));
    b->open = get_array(r, b->n_open, &b->cap_open, sizeof(*b->open));
    for (int hope = 0; hope < DH_HIVE_HOPES; hope++)
        b->idle[hope] = get_array(r, b->n_idle[hope], &b->cap_idle[hope], sizeof(*b->idle[hope]));
    b->queue = get_array(r, b->n_queue, &b->cap_queue, sizeof(*b->queue));
}

static void get_unit(struct reader *r, struct dh_hive_unit *u)
{
    get(r, u, sizeof(*u));
    u->records = get_array(r, u->n_records, &u->cap_records, sizeof(*u->records));
    u->in = get_array(r, u->n_in, &u->cap_in, sizeof(*u->in));
    for (int order = 0; order < DH_HIVE_ORDERS; order++) {
        size_t len;
        const char *bytes = get_bytes(r, &len);
        if (len == sizeof(*u->stacks[order]))
            u->stacks[order] = memcpy(dh_util_alloc(len), bytes, len);
        else if (len)
            r->bad = true;
    }
}

/* Room for n items, all zero; *ret_n counts those read so far, so that a state can be destroyed at any
 * time. */
static void *room(struct reader *r, u64 n, size_t *ret_cap, size_t size)
{
    if (n > (u64)(r->end - r->at) / size)
        r->bad = true;
    *ret_cap = r->bad ? 0 : (size_t)n + 16;
    return r->bad ? NULL : dh_util_alloc(*ret_cap * size);
}

static void get_state(struct reader *r, struct dh_hive_state *s, const struct head *h)
{
    s->programs = room(r, h->n_programs, &s->cap_programs, sizeof(*s->programs));
    for (; !r->bad && s->n_programs < h->n_programs; s->n_programs++)
        get_program(r, s, &s->programs[s->n_programs]);
    s->builds = room(r, h->n_builds, &s->cap_builds, sizeof(*s->builds));
    for (; !r->bad && s->n_builds < h->n_builds; s->n_builds++)
        get_build(r, s, &s->builds[s->n_builds]);
    s->units = room(r, h->n_units, &s->cap_units, sizeof(*s->units));
    for (; !r->bad && s->n_units < h->n_units; s->n_units++)
        get_unit(r, &s->units[s->n_units]);
    s->sites = get_array(r, (size_t)h->n_sites, &s->cap_sites, sizeof(*s->sites));
    s->n_sites = s->sites ? (size_t)h->n_sites : 0;
    s->users = get_array(r, (size_t)h->n_users, &s->cap_users, sizeof(*s->users));
    s->n_users = s->users ? (size_t)h->n_users : 0;
    s->tasks = get_array(r, (size_t)h->n_tasks, &s->cap_tasks, sizeof(*s->tasks));
    s->n_tasks = s->tasks ? (size_t)h->n_tasks : 0;
    get_map(r, s, &s->program_by_name, NUMBERS);
    get_map(r, s, &s->build_by_id, NUMBERS);
    get_map(r, s, &s->user_by_hash, NUMBERS);
    get_map(r, s, &s->results, NUMBERS);
    get_map(r, s, &s->runs, MARKS);
    get_map(r, s, &s->tried, TRIED);
}

int dh_hive_snapshot_read(struct dh_hive_state *s, const void *bytes, size_t len)
{
    struct head h, mine = head_of(s);
    u64 sum;
    if (len < sizeof(h) + sizeof(sum))
        return -EBADMSG;
    struct reader r = {.at = bytes, .end = (const char *)bytes + len - sizeof(sum)};
    memcpy(&sum, r.end, sizeof(sum));
    get(&r, &h, sizeof(h));
    if (h.magic != MAGIC || h.format != FORMAT || memcmp(h.sizes, mine.sizes, sizeof(h.sizes)) != 0 ||
        XXH3_64bits(bytes, len - sizeof(sum)) != sum)
        return -EBADMSG;
    get_state(&r, s, &h);
    s->seq = h.seq;
    s->time_us = h.time_us;
    s->n_results = h.n_results;
    return r.bad || r.at != r.end ? -EBADMSG : 0;
}
