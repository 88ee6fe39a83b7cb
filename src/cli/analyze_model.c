/*
 * analyze_model.c - the races of a recording with stacks, locks and the memory involved, in the form that the
 * report room uses (report/model.h). Reads the trace a third time, and only if there is a race to report
 * (event/dht_look.h). The result becomes a finding like a race record does.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze.h"
#include "cli/cmd.h"
#include "cli/trace_model.h"

enum { LOOKED_AT = 1 << 16 }; /* races of a detector, at some kilobytes each; the others have no stacks */

static size_t looked_at(const struct dh_analyze_found *f)
{
    return f->n < LOOKED_AT ? f->n : LOOKED_AT;
}

static void warn(void *unused, const char *sentence)
{
    (void)unused;
    dh_cli_warn("analyze", "%s", sentence);
}

void dh_analyze_model(struct dh_analyze *a)
{
    size_t n = 0;
    for (u32 i = 0; i < a->n; i++)
        n += looked_at(&a->found[i]);
    if (n == 0 || a->bare || !dh_trace_in_has_code(&a->in))
        return;
    unsetenv("DEBUGINFOD_URLS"); /* a report must not wait for the network */
    dh_model_init(&a->model, &a->arena);
    dh_source_init(&a->source, &a->arena);
    a->symbols = dh_symbol_new(&a->arena, warn, NULL);
    if (a->full_names)
        dh_symbol_full_names(a->symbols);
    struct dh_trace_race *all = dh_util_alloc(n * sizeof(*all)), *at = all;
    for (u32 i = 0; i < a->n; i++)
        for (size_t k = 0; k < looked_at(&a->found[i]); k++)
            *at++ = (struct dh_trace_race){.race = &a->found[i].races[k].race, .by = a->ops[i]};
    int rc = dh_trace_model(&a->in, &a->view, &a->model, all, n);
    if (rc)
        dh_cli_warn("analyze", "%s: it cannot be read again for the stacks of its races: %s", a->in.shown,
                    strerror(-rc));
    at = all;
    for (u32 i = 0; i < a->n; i++)
        for (size_t k = 0; k < looked_at(&a->found[i]); k++)
            a->found[i].races[k].model = at++->ret;
    free(all);
}

void dh_analyze_model_done(struct dh_analyze *a)
{
    if (!a->symbols)
        return;
    dh_symbol_free(a->symbols);
    dh_model_done(&a->model);
    dh_arena_done(&a->arena);
}
