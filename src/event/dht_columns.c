/*
 * dht_columns.c - see dht_columns.h.
 */
#include "event/dht_columns.h"

#include <string.h>

static struct dh_column column(const u8 **at, u64 n, u32 bytes)
{
    struct dh_column c = {.at = *at, .step = bytes, .mask = UINT32_MAX >> (32 - 8 * bytes)};
    *at += n * bytes;
    return c;
}

static bool is_width(u8 bytes)
{
    return bytes >= 1 && bytes <= 4;
}

bool dh_columns_begin(struct dh_columns_in *c, const u8 *raw, size_t len, u64 n)
{
    struct dh_dht_columns h;
    u32 threads = 0, modes = 0;
    if (len < sizeof(h) || n > DH_DHT_ORDERED_EVENTS)
        return false;
    memcpy(&h, raw, sizeof(h));
    if (!is_width(h.target_bytes) || !is_width(h.site_bytes) || !is_width(h.thread_bytes) ||
        len !=
            sizeof(h) + n * (1u + h.target_bytes + h.site_bytes) + (u64)h.threads * h.thread_bytes + h.modes)
        return false;
    const u8 *at = raw + sizeof(h);
    for (u64 i = 0; i < n; i++) {
        threads += (at[i] & DH_COLUMNS_THREAD) != 0;
        modes += (at[i] & DH_COLUMNS_MODE) != 0;
    }
    if (threads != h.threads || modes != h.modes || n == 0 || !(at[0] & DH_COLUMNS_THREAD))
        return false;
    c->left = (u32)n;
    c->ops = at;
    at += n;
    c->targets = column(&at, n, h.target_bytes);
    c->sites = column(&at, n, h.site_bytes);
    c->threads = column(&at, h.threads, h.thread_bytes);
    c->modes = at;
    return true;
}

bool dh_columns_put(struct dh_columns_out *c, const struct dh_event *e)
{
    u32 i = c->n;
    if (i == DH_DHT_ORDERED_EVENTS)
        return false;
    c->ops[i] = e->op;
    if (i == 0 || e->thread != c->thread) {
        c->ops[i] |= DH_COLUMNS_THREAD;
        c->threads[c->n_threads++] = c->thread = e->thread;
        c->thread_max |= e->thread;
    }
    if (e->mode) {
        c->ops[i] |= DH_COLUMNS_MODE;
        c->modes[c->n_modes++] = e->mode;
    }
    c->targets[i] = e->target;
    c->target_max |= e->target;
    c->sites[i] = e->site;
    c->site_max |= e->site;
    c->n++;
    return true;
}

static u8 width(u32 max)
{
    return max >> 24 ? 4 : max >> 16 ? 3 : max >> 8 ? 2 : 1;
}

static u8 *put_column(u8 *at, const u32 *numbers, u32 n, u32 bytes)
{
    for (u32 i = 0; i < n; i++, at += bytes)
        memcpy(at, &numbers[i], bytes); /* little-endian, as this machine */
    return at;
}

size_t dh_columns_end(struct dh_columns_out *c, u8 *raw)
{
    struct dh_dht_columns h = {.threads = c->n_threads,
                               .modes = c->n_modes,
                               .target_bytes = width(c->target_max),
                               .site_bytes = width(c->site_max),
                               .thread_bytes = width(c->thread_max)};
    u8 *at = raw;
    memcpy(at, &h, sizeof(h));
    at += sizeof(h);
    memcpy(at, c->ops, c->n);
    at += c->n;
    at = put_column(at, c->targets, c->n, h.target_bytes);
    at = put_column(at, c->sites, c->n, h.site_bytes);
    at = put_column(at, c->threads, c->n_threads, h.thread_bytes);
    memcpy(at, c->modes, c->n_modes);
    at += c->n_modes;
    c->n = c->n_threads = c->n_modes = 0;
    c->target_max = c->site_max = c->thread_max = 0;
    return (size_t)(at - raw);
}
