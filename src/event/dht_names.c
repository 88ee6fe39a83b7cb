/*
 * dht_names.c - see dht_read.h: what a reader knows beyond the events.
 */
#include <string.h>

#include "base/fmt.h"
#include "event/dht_reader.h"

const char *dh_dht_error(const struct dh_dht *r)
{
    return r->error;
}

void dh_dht_limit(struct dh_dht *r, u32 variables)
{
    r->cells.limit = variables;
}

bool dh_dht_is(const void *begin, size_t n)
{
    return n >= 8 && memcmp(begin, DH_DHT_MAGIC, 8) == 0;
}

const struct dh_form *dh_dht_form(const struct dh_dht *r)
{
    return &r->form;
}

void dh_dht_stats(const struct dh_dht *r, struct dh_dht_stats *ret)
{
    bool named = (r->flags & DH_DHT_NAMED) != 0;
    double part = r->pass_total ? (double)r->pass_bytes / (double)r->pass_total : 1;
    *ret = (struct dh_dht_stats){
        .pid = r->pid,
        .size = r->size,
        .bytes = part < 1 ? (u64)(part * (double)r->size) : r->size,
        .chunks = r->chunks,
        .stored = r->stored,
        .packed = r->packed,
        .raw = r->raw,
        .threads = named ? r->names[0].n : r->n_threads,
        .locks = named ? r->names[1].n : r->objects.n,
        .variables = named ? r->names[2].n : r->cells.n,
        .complete = r->complete,
        .cut = r->cut,
    };
}

const char *dh_dht_thread_name(const struct dh_dht *r, u32 thread, char *buf, size_t cap)
{
    u32 uid = thread < r->n_threads ? r->threads[thread].uid : thread;
    if (uid < r->names[0].n)
        return dh_names_get(&r->names[0], uid);
    struct dh_fmt f;
    dh_fmt_init(&f, buf, cap - 1);
    dh_fmt_char(&f, 'T');
    dh_fmt_u64(&f, (u64)uid + 1); /* as reports have it: the first thread is T1 */
    buf[f.len] = '\0';
    return buf;
}

u64 dh_dht_lock(const struct dh_dht *r, u32 lock)
{
    return lock < r->objects.n ? r->objects.addrs[lock] : 0;
}

/* 0x..., and #n behind it for the n-th object at the same address. */
const char *dh_dht_lock_name(const struct dh_dht *r, u32 lock, char *buf, size_t cap)
{
    if (lock < r->names[1].n)
        return dh_names_get(&r->names[1], lock);
    struct dh_fmt f;
    dh_fmt_init(&f, buf, cap - 1);
    dh_fmt_hex(&f, lock < r->objects.n ? r->objects.addrs[lock] : lock);
    if (lock < r->objects.n) {
        dh_fmt_char(&f, '#');
        dh_fmt_u64(&f, lock);
    }
    buf[f.len] = '\0';
    return buf;
}

void dh_dht_variable(const struct dh_dht *r, u32 cell, u64 *ret_addr, u32 *ret_size)
{
    bool known = cell < r->cells.n;
    *ret_addr = known ? r->cells.where[cell] >> 4 : (u64)cell * 8;
    *ret_size = known ? (u32)(r->cells.where[cell] & 15) : 8;
}

const char *dh_dht_variable_name(const struct dh_dht *r, u32 cell, char *buf, size_t cap)
{
    u64 addr;
    u32 size;
    if (cell < r->names[2].n)
        return dh_names_get(&r->names[2], cell);
    dh_dht_variable(r, cell, &addr, &size);
    struct dh_fmt f;
    dh_fmt_init(&f, buf, cap - 1);
    dh_fmt_hex(&f, addr);
    dh_fmt_char(&f, '/');
    dh_fmt_u64(&f, size);
    buf[f.len] = '\0';
    return buf;
}

bool dh_dht_next_module(const struct dh_dht *r, u64 *at, struct dh_dht_module *ret)
{
    if (*at >= r->modules_len)
        return false;
    memcpy(ret, r->modules + *at, sizeof(*ret));
    *at += sizeof(*ret) + ret->path_len;
    return true;
}

/* The last module told that holds the address. */
static const u8 *find_module(const struct dh_dht *r, u64 pc, struct dh_dht_module *ret)
{
    const u8 *found = NULL;
    struct dh_dht_module m;
    for (u64 at = 0, here = 0; dh_dht_next_module(r, &at, &m); here = at) {
        if (pc < m.lo || pc >= m.hi)
            continue;
        *ret = m;
        found = r->modules + here;
    }
    return found;
}

bool dh_dht_place_of(const struct dh_dht *r, u64 addr, struct dh_dht_place *ret)
{
    struct dh_dht_module m;
    const u8 *found = find_module(r, addr, &m);
    *ret = (struct dh_dht_place){.pc = addr, .offset = addr};
    if (!found)
        return false;
    ret->path = (const char *)found + sizeof(m);
    ret->path_len = m.path_len;
    ret->build_id = found + offsetof(struct dh_dht_module, build_id);
    ret->build_id_len = m.build_id_len;
    ret->offset = addr - m.bias;
    return true;
}

bool dh_dht_place(const struct dh_dht *r, u32 site, struct dh_dht_place *ret)
{
    *ret = (struct dh_dht_place){.pc = site};
    if ((r->flags & DH_DHT_NAMED) || site >= r->sites.n)
        return false;
    dh_dht_place_of(r, r->sites.keys[site], ret);
    u32 n = dh_pages_find(&r->symbol_keys, ret->pc);
    if (n != DH_PAGES_NONE)
        ret->symbol = r->symbols + r->symbol_at[n];
    return true;
}

bool dh_dht_program(const struct dh_dht *r, struct dh_dht_place *ret)
{
    struct dh_dht_module m;
    u64 at = 0;
    return dh_dht_next_module(r, &at, &m) &&
           dh_dht_place_of(r, m.lo, ret); /* the linker's list begins with it */
}
