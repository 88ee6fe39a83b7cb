/*
 * compare_trace.c - one detector over a trace, in its own process.
 *
 * Time is measured from opening the file to the detector's last report, so that `empty` measures just the
 * reading and the others show what they add to it. Names are looked up afterwards, outside the measured time
 * and memory.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/compare.h"
#include "cli/trace_in.h"

/* A variable and two places; the key of a map. */
struct found {
    u32 cell;
    u32 now, earlier; /* sites */
    u32 flags;
};

enum { NOW_WRITES = 1, EARLIER_WRITES = 2, EARLIER_UNKNOWN = 4 };

struct job {
    struct dh_compare *compare;
    struct dh_compare_row *row;
    const char *file;
    bool quiet;
    struct dh_trace_in in;
    struct dh_arena arena, names;
    struct dh_map seen; /* struct found to itself, in the arena */
    struct found last;
    struct found **list;
    size_t n, cap;
};

static void on_race(void *ctx, u32 index, const struct dh_race *race)
{
    struct job *j = ctx;
    bool unknown = race->earlier.thread == DH_UNKNOWN;
    struct found f = {.cell = race->cell,
                      .now = race->now.site,
                      .earlier = unknown ? 0 : race->earlier.site,
                      .flags = (race->now.write ? NOW_WRITES : 0) | (unknown ? EARLIER_UNKNOWN : 0) |
                               (!unknown && race->earlier.write ? EARLIER_WRITES : 0)};
    (void)index;
    if (j->n && memcmp(&f, &j->last, sizeof(f)) == 0)
        return;
    j->last = f;
    if (dh_map_get(&j->seen, &f, sizeof(f)))
        return;
    struct found *kept = dh_arena_alloc(&j->arena, sizeof(f));
    *kept = f;
    dh_map_put(&j->seen, &f, sizeof(f), kept);
    j->list = dh_util_grow(j->list, j->n, &j->cap, sizeof(*j->list));
    j->list[j->n++] = kept;
}

/* ---- Names -------------------------------------------------------------------------------------------- */

/* The global that holds the variable of a recording, or NULL. */
static const char *global_of(struct job *j, u32 cell)
{
    struct dh_dht_place place;
    struct dh_symbol_variable v;
    u64 addr;
    u32 size;
    dh_dht_variable(j->in.dht, cell, &addr, &size);
    if (!dh_dht_place_of(j->in.dht, addr, &place) ||
        !dh_trace_symbols_global(&j->in.symbols, &place, size, &v))
        return NULL;
    return v.name;
}

static json_t *text(const char *s)
{
    json_t *value = json_string(s);
    return value ? value : json_string("?"); /* not UTF-8 */
}

/* Adds it, unless there is one with the same names: a racing array is many pieces of memory. */
static void add_warning(struct job *j, struct dh_map *known, const struct found *f, json_t *list)
{
    bool unknown = f->flags & EARLIER_UNKNOWN;
    const char *now = dh_arena_strdup(&j->names, dh_trace_in_site(&j->in, f->now));
    const char *earlier = unknown ? "?" : dh_arena_strdup(&j->names, dh_trace_in_site(&j->in, f->earlier));
    const char *name = dh_trace_in_variable(&j->in, f->cell);
    if (j->in.dht && strncmp(name, "0x", 2) == 0) { /* an address: a recording, not converted from a text */
        name = global_of(j, f->cell);
        if (!name)
            name = dh_compare_unnamed(&j->names, now, earlier);
    }
    const char *key = dh_arena_printf(&j->names, "%s\n%s\n%s\n%u", name, now, earlier, f->flags);
    if (dh_map_get(known, key, strlen(key)))
        return;
    dh_map_put(known, key, strlen(key), j);
    json_array_append_new(list, json_pack("[o o b o b]", text(name), text(now), (int)(f->flags & NOW_WRITES),
                                          text(earlier), (int)(f->flags & EARLIER_WRITES)));
}

static json_t *name_warnings(struct job *j)
{
    struct dh_map known;
    json_t *list = json_array();
    dh_map_init(&known, &j->names);
    for (size_t i = 0; i < j->n; i++)
        add_warning(j, &known, j->list[i], list);
    return list;
}

/* ---- The child ---------------------------------------------------------------------------------------- */

static void work(void *ctx, int fd)
{
    static struct dh_event batch[4096];
    struct job *j = ctx;
    struct rusage usage;
    struct dh_host_result result;
    long n;
    if (dh_trace_in_open(&j->in, "compare", j->file) != 0)
        _exit(DH_EXIT_TROUBLE);
    dh_map_init(&j->seen, &j->arena);
    struct dh_host *host = dh_host_new(on_race, j);
    if (!host)
        dh_util_no_memory();
    dh_host_window(host, j->compare->window);
    if (dh_host_add(host, j->row->ops) != 0)
        dh_util_no_memory();
    while ((n = dh_trace_in_read(&j->in, batch, DH_ARRAY_LEN(batch))) > 0)
        if (dh_host_feed(host, batch, (size_t)n) != 0)
            dh_util_no_memory();
    if (n < 0)
        _exit(DH_EXIT_TROUBLE);
    dh_host_finish(host);
    double seconds = dh_trace_in_seconds(&j->in);
    getrusage(RUSAGE_SELF, &usage);
    double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    if (!j->quiet)
        dh_trace_in_warn(&j->in);
    dh_host_result(host, 0, &result);
    struct dh_trace_in_counts counts = dh_trace_in_counts(&j->in);
    json_t *root =
        json_pack("{s:f s:f s:I s:I s:I s:I s:I s:b s:s s:o}", "seconds", seconds, "cpu", cpu, "peak",
                  (json_int_t)usage.ru_maxrss * 1024, "events", (json_int_t)j->in.events, "threads",
                  (json_int_t)counts.threads, "locks", (json_int_t)counts.locks, "cells",
                  (json_int_t)counts.variables, "whole", dh_trace_in_whole(&j->in), "error",
                  result.error ? strerror(-result.error) : "", "warnings", name_warnings(j));
    if (!root)
        dh_util_no_memory();
    json_dumpfd(root, fd, JSON_COMPACT);
}

/* ---- The parent --------------------------------------------------------------------------------------- */

static u64 number(const json_t *root, const char *name)
{
    return (u64)json_integer_value(json_object_get(root, name));
}

/* The fastest of several rounds counts. */
static void take(struct dh_compare *c, struct dh_compare_row *row, const json_t *root)
{
    double seconds = json_number_value(json_object_get(root, "seconds"));
    const char *error = json_string_value(json_object_get(root, "error"));
    json_t *w;
    size_t i;
    double cpu = json_number_value(json_object_get(root, "cpu"));
    if (row->seconds == 0 || seconds < row->seconds)
        row->seconds = seconds;
    if (row->cpu == 0 || cpu < row->cpu)
        row->cpu = cpu;
    row->peak = number(root, "peak");
    c->events = number(root, "events");
    c->threads = (u32)number(root, "threads");
    c->locks = (u32)number(root, "locks");
    c->cells = (u32)number(root, "cells");
    c->partial = !json_is_true(json_object_get(root, "whole"));
    if (error && *error)
        row->error = dh_arena_strdup(&c->arena, error);
    row->n_warnings = 0;
    json_array_foreach(json_object_get(root, "warnings"), i, w)
    {
        const char *name, *now, *earlier;
        int now_writes, earlier_writes;
        if (json_unpack(w, "[s s b s b]", &name, &now, &now_writes, &earlier, &earlier_writes) == 0)
            dh_compare_add(c, row, name, now, now_writes, earlier, earlier_writes);
    }
}

int dh_compare_trace(struct dh_compare *c, struct dh_compare_row *row, const char *file, bool quiet)
{
    for (u64 round = 0; round < c->rounds && !row->error; round++) {
        struct job j = {.compare = c, .row = row, .file = file, .quiet = quiet || round > 0};
        struct dh_compare_child child;
        json_t *root = dh_compare_child_read(work, &j, c->timeout, &child);
        row->error = dh_compare_child_error(c, &child);
        if (!row->error && WIFEXITED(child.status) && WEXITSTATUS(child.status) == DH_EXIT_TROUBLE) {
            json_decref(root);
            return DH_EXIT_TROUBLE;
        }
        if (root)
            take(c, row, root);
        else if (!row->error)
            row->error = "it gave no answer";
        json_decref(root);
    }
    return 0;
}
