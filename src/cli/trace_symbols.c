/*
 * trace_symbols.c - see trace_symbols.h.
 */
#include "cli/trace_symbols.h"

#include <stdio.h>

static void ignore(void *ctx, const char *sentence)
{
    (void)ctx;
    (void)sentence;
}

void dh_trace_symbols_init(struct dh_trace_symbols *t)
{
    *t = (struct dh_trace_symbols){0};
    dh_map_init(&t->modules, &t->arena);
    t->symbols = dh_symbol_new(&t->arena, ignore, NULL);
}

void dh_trace_symbols_done(struct dh_trace_symbols *t)
{
    dh_symbol_free(t->symbols);
    dh_map_done(&t->modules);
    dh_arena_done(&t->arena);
}

const struct dh_model_module *dh_trace_symbols_module(struct dh_trace_symbols *t,
                                                      const struct dh_dht_place *p)
{
    struct dh_model_module *m = dh_map_get(&t->modules, p->path, p->path_len);
    if (m)
        return m;
    char *id = dh_arena_alloc(&t->arena, 2 * (size_t)p->build_id_len + 1);
    for (u32 i = 0; i < p->build_id_len; i++)
        snprintf(id + 2 * i, 3, "%02x", p->build_id[i]);
    m = dh_arena_alloc(&t->arena, sizeof(*m));
    *m = (struct dh_model_module){.path = dh_arena_dup(&t->arena, p->path, p->path_len), .build_id = id};
    dh_map_put(&t->modules, p->path, p->path_len, m);
    return m;
}

bool dh_trace_symbols_frame(struct dh_trace_symbols *t, const struct dh_dht_place *p,
                            struct dh_symbol_frame *ret)
{
    struct dh_model_frame frame = {.module = dh_trace_symbols_module(t, p), .offset = p->offset};
    struct dh_model_stack stack = {&frame, 1};
    struct dh_symbol_trace trace = {0};
    dh_symbol_trace_stack(t->symbols, &stack, &trace);
    if (trace.n == 0 || !trace.frames[0].function)
        return false;
    *ret = trace.frames[0];
    return true;
}

bool dh_trace_symbols_global(struct dh_trace_symbols *t, const struct dh_dht_place *p, u32 size,
                             struct dh_symbol_variable *ret)
{
    return dh_symbol_find_variable(t->symbols, dh_trace_symbols_module(t, p), p->offset, size, ret);
}
