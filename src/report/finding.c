/*
 * finding.c - a finding's identity, where to look at, and whether it is suppressed. See finding.h.
 */
#include "report/finding.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/map.h"
#include "util/path.h"

bool dh_finding_is_free(const struct dh_finding *f)
{
    return f->accesses[0].kind == DH_MODEL_FREE || f->accesses[1].kind == DH_MODEL_FREE;
}

bool dh_finding_in_project(const struct dh_symbol_frame *f)
{
    return (f->file || f->module) && !dh_path_is_system(f->file) && !dh_path_is_system(f->module);
}

const struct dh_symbol_frame *dh_finding_top(const struct dh_symbol_trace *trace)
{
    for (size_t i = 0; i < trace->n; i++) {
        if (dh_finding_in_project(&trace->frames[i]))
            return &trace->frames[i];
    }
    return trace->n ? &trace->frames[0] : NULL;
}

/* ---- Identity ---------------------------------------------------------------------------------------- */

static const char *frame_of(struct dh_arena *arena, const struct dh_symbol_frame *f)
{
    if (!f)
        return "?";
    if (f->unit_file)
        return dh_arena_printf(arena, "%s %s:%d", f->function ? f->function : "?", f->unit_file, f->line);
    return dh_arena_printf(arena, "%s+0x%llx", f->module ? dh_path_base(f->module) : "?",
                           (unsigned long long)f->offset);
}

static const char *place_of(struct dh_arena *arena, const struct dh_finding_access *a)
{
    return a->place ? a->place : frame_of(arena, dh_finding_top(&a->stack));
}

void dh_finding_identify(struct dh_arena *arena, struct dh_finding *f)
{
    static const char *const kinds[] = {"read", "write", "free", "write"};
    const struct dh_finding_location *at = &f->location;
    const char *sides[2];
    for (int i = 0; i < 2; i++) {
        const struct dh_finding_access *a = &f->accesses[i];
        sides[i] = dh_arena_printf(arena, "%s %s", kinds[a->kind], place_of(arena, a));
    }
    int first = strcmp(sides[0], sides[1]) <= 0 ? 0 : 1;
    const char *where = "unknown";
    switch (at->place) {
    case DH_MODEL_GLOBAL:
        where = at->has_variable ? dh_arena_printf(arena, "global %s", at->variable.shape) : "global";
        break;
    case DH_MODEL_HEAP:
        where = dh_arena_printf(arena, "heap %s", frame_of(arena, dh_finding_top(&at->allocated_at)));
        break;
    case DH_MODEL_STACK: /* its name is known only if the owner came second: that must not make two races */
        where = "stack";
        break;
    case DH_MODEL_TLS:
        where = at->has_variable ? dh_arena_printf(arena, "tls %s", at->variable.shape) : "tls";
        break;
    case DH_MODEL_VARIABLE:
        where = dh_arena_printf(arena, "variable %s", at->variable.name);
        break;
    case DH_MODEL_UNKNOWN:
        break;
    }
    f->identity = dh_arena_printf(arena, "1|%s|%s|%s", sides[first], sides[1 - first], where);
    snprintf(f->fingerprint, sizeof(f->fingerprint), "dh1-%012" PRIx64,
             dh_util_hash(f->identity, strlen(f->identity)) >> 16);
}

/* ---- Suppressions ------------------------------------------------------------------------------------ */

static struct dh_suppress_rule *match_frame(const struct dh_suppress *s, enum dh_suppress_type type,
                                            const struct dh_symbol_frame *f)
{
    struct dh_suppress_rule *rule = dh_suppress_find(s, type, f->function);
    if (!rule)
        rule = dh_suppress_find(s, type, f->file);
    if (!rule)
        rule = dh_suppress_find(s, type, f->unit_file);
    return rule ? rule : dh_suppress_find(s, type, f->module);
}

struct dh_suppress_rule *dh_finding_suppressed(const struct dh_finding *f, const struct dh_suppress *s)
{
    struct dh_suppress_rule *rule;
    if (!s->rules)
        return NULL;
    for (int i = 0; i < 2; i++) {
        const struct dh_symbol_trace *stack = &f->accesses[i].stack;
        if (stack->n && (rule = match_frame(s, DH_SUPPRESS_RACE_TOP, &stack->frames[0])))
            return rule;
        for (size_t j = 0; j < stack->n; j++) {
            if ((rule = match_frame(s, DH_SUPPRESS_RACE, &stack->frames[j])) ||
                (rule = dh_suppress_find(s, DH_SUPPRESS_CALLED_FROM_LIB, stack->frames[j].module)))
                return rule;
        }
    }
    if (!f->location.has_variable)
        return NULL;
    rule = dh_suppress_find(s, DH_SUPPRESS_RACE, f->location.variable.name);
    return rule ? rule : dh_suppress_find(s, DH_SUPPRESS_RACE, f->location.variable.display);
}
