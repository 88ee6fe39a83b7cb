/*
 * pairs_write.c - writes a table of pairs as bytes; pairs_code.h describes the format.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "report/pairs_code.h"
#include "report/pairs_impl.h"

struct out {
    const struct dh_pairs *pairs;
    u8 *bytes;
    size_t n, cap;
};

static u8 *room(struct out *o, size_t n)
{
    if (o->cap - o->n < n) {
        o->cap = (o->cap + n) * 2;
        o->bytes = dh_util_realloc(o->bytes, o->cap);
    }
    return o->bytes + o->n;
}

static void put(struct out *o, u64 x)
{
    u8 *at = room(o, 10);
    for (; x >= 0x80; x >>= 7)
        *at++ = (u8)(x | 0x80);
    *at++ = (u8)x;
    o->n = (size_t)(at - o->bytes);
}

static void put_string(struct out *o, const char *s)
{
    u32 at = dh_pairs_string_index(o->pairs, s);
    DH_CHECK(at != DH_PAIRS_NONE); /* all of a table's strings are interned */
    put(o, at);
}

static void put_place(struct out *o, const struct dh_pairs_place *at)
{
    put_string(o, at->file);
    put_string(o, at->dir);
    put(o, at->line);
    put(o, at->column);
    put(o, at->declared);
    put(o, at->internal);
}

static void put_texts_and_lists(struct out *o)
{
    const struct dh_pairs *p = o->pairs;
    put(o, p->n_strings - 1);
    for (size_t i = 1; i < p->n_strings; i++) {
        size_t len = strlen(p->strings[i]);
        put(o, len);
        memcpy(room(o, len), p->strings[i], len);
        o->n += len;
    }
    put(o, p->n_lists - 1);
    for (u32 i = 1; i < p->n_lists; i++) {
        size_t n;
        const u32 *items = dh_pairs_items(p, i, &n);
        put(o, n);
        for (size_t k = 0; k < n; k++)
            put(o, items[k]);
    }
    put_string(o, p->program);
    put_string(o, p->producer);
    put_string(o, p->options);
    put(o, p->no_threads);
}

static void put_sites(struct out *o)
{
    const struct dh_pairs *p = o->pairs;
    put(o, p->n_sites);
    for (size_t i = 0; i < p->n_sites; i++) {
        const struct dh_pairs_site *s = &p->sites[i];
        put_string(o, s->module);
        put_string(o, s->function);
        put_string(o, s->host);
        put_place(o, &s->at);
        put(o, s->access);
        put(o, s->size);
        put(o, s->ordinal);
        put(o, s->code);
    }
}

static void put_things(struct out *o)
{
    const struct dh_pairs *p = o->pairs;
    put(o, p->n_variables);
    for (size_t i = 0; i < p->n_variables; i++) {
        const struct dh_pairs_variable *v = &p->variables[i];
        put(o, v->storage);
        put_string(o, v->name);
        put_string(o, v->path);
        put_string(o, v->type);
        put_string(o, v->function);
        put_place(o, &v->at);
    }
    put(o, p->n_locks);
    for (size_t i = 0; i < p->n_locks; i++) {
        put(o, (u64)p->locks[i].kind << 1 | p->locks[i].single);
        put_string(o, p->locks[i].name);
        put_place(o, &p->locks[i].at);
    }
    put(o, p->n_entries);
    for (size_t i = 0; i < p->n_entries; i++) {
        const struct dh_pairs_entry *e = &p->entries[i];
        put(o, (u64)e->kind << 1 | e->many);
        put_string(o, e->function);
        put_string(o, e->creator);
        put_string(o, e->api);
        put_place(o, &e->at);
    }
}

static void put_pairs(struct out *o)
{
    const struct dh_pairs *p = o->pairs;
    put(o, p->n_pairs);
    for (size_t i = 0; i < p->n_pairs; i++) {
        const struct dh_pairs_pair *pair = &p->pairs[i];
        put(o, pair->side[0].site);
        put(o, pair->side[1].site - pair->side[0].site);
        for (int k = 0; k < 2; k++) {
            put(o, pair->side[k].locks);
            put(o, pair->side[k].entries);
            put(o, pair->alike[k]);
        }
        put(o, pair->variables);
        put(o, pair->flags);
        put(o, pair->reasons);
        put_string(o, pair->note);
    }
}

static void put_figures(struct out *o)
{
    const struct dh_pairs *p = o->pairs;
    put(o, p->n_assumptions);
    for (size_t i = 0; i < p->n_assumptions; i++) {
        put_string(o, p->assumptions[i].name);
        put_string(o, p->assumptions[i].sentence);
        put(o, p->assumptions[i].count);
        put(o, p->assumptions[i].examples);
    }
    put(o, p->n_phases);
    for (size_t i = 0; i < p->n_phases; i++) {
        put_string(o, p->phases[i].name);
        put(o, p->phases[i].microseconds);
        put(o, p->phases[i].peak_kib);
    }
    put(o, p->n_counters);
    for (size_t i = 0; i < p->n_counters; i++) {
        put_string(o, p->counters[i].name);
        put(o, p->counters[i].value);
    }
}

static void put_fixed(u8 *at, u64 x, int n)
{
    for (int i = 0; i < n; i++)
        at[i] = (u8)(x >> (8 * i));
}

void dh_pairs_write(const struct dh_pairs *p, u8 **ret, size_t *ret_len)
{
    struct out o = {.pairs = p};
    memset(room(&o, DH_PAIRS_AT_BODY), 0, DH_PAIRS_AT_BODY);
    o.n = DH_PAIRS_AT_BODY;
    put_texts_and_lists(&o);
    put_sites(&o);
    put_things(&o);
    put_pairs(&o);
    put_figures(&o);
    size_t body = o.n - DH_PAIRS_AT_BODY;
    memcpy(o.bytes, DH_PAIRS_MAGIC, sizeof(DH_PAIRS_MAGIC));
    put_fixed(o.bytes + DH_PAIRS_AT_VERSION, DH_PAIRS_VERSION, 4);
    put_fixed(o.bytes + DH_PAIRS_AT_LENGTH, body, 8);
    put_fixed(o.bytes + DH_PAIRS_AT_HASH, XXH64(o.bytes + DH_PAIRS_AT_BODY, body, 0), 8);
    *ret = o.bytes;
    *ret_len = o.n;
}

int dh_pairs_write_file(const struct dh_pairs *p, int file)
{
    u8 *bytes;
    size_t n;
    int err = 0;
    dh_pairs_write(p, &bytes, &n);
    for (size_t done = 0; done < n && err == 0;) {
        ssize_t k = write(file, bytes + done, n - done);
        if (k >= 0)
            done += (size_t)k;
        else if (errno != EINTR)
            err = -errno;
    }
    free(bytes);
    return err;
}
