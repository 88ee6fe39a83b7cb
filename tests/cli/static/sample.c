/*
 * sample.c - writes a table of pairs to standard output, as if queue.c had been analysed: sample DIR [KIND].
 * DIR is where queue.c is. KIND: "none" for a program without threads, "odd" for names that every form of
 * output has to escape, "many" for a large table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/pairs.h"

static const char *dir;

static u32 site(struct dh_pairs *p, const char *function, u32 line, u8 access, u32 size)
{
    struct dh_pairs_site s = {.module = "queue.c",
                              .function = function,
                              .at = {.file = "queue.c", .dir = dir, .line = line, .column = 5},
                              .access = access,
                              .size = size};
    return dh_pairs_add_site(p, &s);
}

static u32 variable(struct dh_pairs *p, u8 storage, const char *name, const char *path, const char *type,
                    u32 line)
{
    struct dh_pairs_variable v = {.storage = storage,
                                  .name = name,
                                  .path = path,
                                  .type = type,
                                  .function = storage == DH_PAIRS_HEAP ? "main" : "",
                                  .at = {.file = "queue.c", .dir = dir, .line = line, .column = 1}};
    u32 index = dh_pairs_add_variable(p, &v);
    return dh_pairs_add_list(p, &index, 1);
}

static void pair(struct dh_pairs *p, struct dh_pairs_side a, struct dh_pairs_side b, u32 variables, u32 flags,
                 u32 reasons)
{
    struct dh_pairs_pair new = {.side = {a, b}, .variables = variables, .flags = flags, .reasons = reasons};
    dh_pairs_add_pair(p, &new);
}

static void add_queue(struct dh_pairs *p)
{
    struct dh_pairs_entry main_thread = {.kind = DH_PAIRS_MAIN, .function = "main"};
    struct dh_pairs_entry worker = {.kind = DH_PAIRS_THREAD,
                                    .many = true,
                                    .function = "worker",
                                    .creator = "main",
                                    .api = "pthread_create",
                                    .at = {.file = "queue.c", .dir = dir, .line = 34, .column = 9}};
    u32 m = dh_pairs_add_entry(p, &main_thread), w = dh_pairs_add_entry(p, &worker);
    u32 in_main = dh_pairs_add_list(p, &m, 1), in_worker = dh_pairs_add_list(p, &w, 1);
    struct dh_pairs_lock lock = {.kind = DH_PAIRS_MUTEX, .single = true, .name = "(struct queue).lock"};
    u32 held = dh_pairs_held(dh_pairs_add_lock(p, &lock), false), locked = dh_pairs_add_list(p, &held, 1);
    const u32 both = DH_PAIRS_RELAY | DH_PAIRS_SOUND;

    u32 hits = variable(p, DH_PAIRS_GLOBAL, "stats", ".hits", "", 13);
    u32 w_hits = site(p, "worker", 24, DH_PAIRS_WRITE, 8), m_hits = site(p, "main", 39, DH_PAIRS_READ, 8);
    pair(p, (struct dh_pairs_side){m_hits, 0, in_main}, (struct dh_pairs_side){w_hits, 0, in_worker}, hits,
         both, DH_PAIRS_BY_TWO_THREADS | DH_PAIRS_BY_NO_LOCKS);
    pair(p, (struct dh_pairs_side){w_hits, 0, in_worker}, (struct dh_pairs_side){w_hits, 0, in_worker}, hits,
         both, DH_PAIRS_BY_INSTANCES | DH_PAIRS_BY_NO_LOCKS);

    u32 done = variable(p, DH_PAIRS_GLOBAL, "done", "", "int", 14);
    pair(p, (struct dh_pairs_side){site(p, "worker", 18, DH_PAIRS_READ, 4), 0, in_worker},
         (struct dh_pairs_side){site(p, "main", 38, DH_PAIRS_WRITE, 4), 0, in_main}, done,
         both | DH_PAIRS_AD_HOC, DH_PAIRS_BY_TWO_THREADS);

    u32 length = variable(p, DH_PAIRS_HEAP, "calloc", ".length", "struct queue", 31);
    pair(p, (struct dh_pairs_side){site(p, "worker", 21, DH_PAIRS_WRITE, 4), locked, in_worker},
         (struct dh_pairs_side){site(p, "main", 36, DH_PAIRS_WRITE, 4), locked, in_main}, length,
         DH_PAIRS_SOUND, DH_PAIRS_BY_MANY_LOCKS);

    u32 dropped = variable(p, DH_PAIRS_HEAP, "calloc", ".dropped", "struct queue", 31);
    u32 w_dropped = site(p, "worker", 23, DH_PAIRS_WRITE, 4);
    pair(p, (struct dh_pairs_side){w_dropped, 0, in_worker}, (struct dh_pairs_side){w_dropped, 0, in_worker},
         dropped, both | DH_PAIRS_IF_PARTITION, DH_PAIRS_BY_INSTANCES);
    dh_pairs_assumed(p, "inline-asm", "inline assembly touches no shared memory", 2, "queue.c:7 in spin");
    dh_pairs_add_phase(p, "points-to", 1500, 4096);
    dh_pairs_add_counter(p, "instructions", 300);
}

static void add_odd(struct dh_pairs *p)
{
    u32 v = variable(p, DH_PAIRS_GLOBAL, "_ZN1a1bE<&\"'>", "", "std::map<int, \"x\">", 1);
    struct dh_pairs_site s = {.module = "</script>",
                              .function = "_Z1fv",
                              .at = {.file = "a b%<\xff>.c", .line = 4000000000u},
                              .size = 1};
    u32 a = dh_pairs_add_site(p, &s);
    pair(p, (struct dh_pairs_side){.site = a}, (struct dh_pairs_side){.site = a}, v, DH_PAIRS_RELAY, 0);
    s.at.file = s.module = s.function = "";
    a = dh_pairs_add_site(p, &s);
    pair(p, (struct dh_pairs_side){.site = a}, (struct dh_pairs_side){.site = a}, 0, DH_PAIRS_RELAY, 0);
}

static void add_many(struct dh_pairs *p)
{
    enum { SITES = 300 };
    u32 v = variable(p, DH_PAIRS_GLOBAL, "table", "[]", "long[]", 1), first = 0;
    for (u32 i = 0; i < SITES; i++)
        first = site(p, "worker", 20 + i % 10, DH_PAIRS_WRITE, 8) - i;
    for (u32 i = 0; i < SITES; i++)
        for (u32 k = 0; k <= i; k++)
            pair(p, (struct dh_pairs_side){.site = first + i}, (struct dh_pairs_side){.site = first + k}, v,
                 DH_PAIRS_SOUND, DH_PAIRS_BY_MAY_ALIAS);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    dir = argv[1];
    const char *kind = argc > 2 ? argv[2] : "";
    struct dh_pairs *p = dh_pairs_new();
    dh_pairs_set_program(p, "queue", "deadheat test", "");
    if (strcmp(kind, "none") == 0)
        p->no_threads = true;
    else if (strcmp(kind, "odd") == 0)
        add_odd(p);
    else if (strcmp(kind, "many") == 0)
        add_many(p);
    else
        add_queue(p);
    u8 *bytes;
    size_t n;
    dh_pairs_write(p, &bytes, &n);
    bool ok = fwrite(bytes, 1, n, stdout) == n;
    free(bytes);
    dh_pairs_free(p);
    return ok ? 0 : 1;
}
