/*
 * trace_symbols.h - the names of a recording's places and variables, looked up in the program's files.
 */
#ifndef DH_CLI_TRACE_SYMBOLS_H
#define DH_CLI_TRACE_SYMBOLS_H

#include "event/dht_read.h"
#include "report/symbol.h"
#include "util/map.h"

/* All zero except through dh_trace_symbols_init. */
struct dh_trace_symbols {
    struct dh_arena arena;
    struct dh_map modules; /* by path */
    struct dh_symbol *symbols;
};

void dh_trace_symbols_init(struct dh_trace_symbols *t);
void dh_trace_symbols_done(struct dh_trace_symbols *t);
/* The file of a place that has one. */
const struct dh_model_module *dh_trace_symbols_module(struct dh_trace_symbols *t,
                                                      const struct dh_dht_place *p);
/* The innermost function at a code address. False: unknown. */
bool dh_trace_symbols_frame(struct dh_trace_symbols *t, const struct dh_dht_place *p,
                            struct dh_symbol_frame *ret);
/* The global variable at a data address. */
bool dh_trace_symbols_global(struct dh_trace_symbols *t, const struct dh_dht_place *p, u32 size,
                             struct dh_symbol_variable *ret);

#endif
