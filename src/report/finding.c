/*
 * finding.c - a finding's identity, the frame to look at, and whether it is suppressed. See finding.h.
 */
#include "report/finding.h"

#include <inttypes.h>
#include <string.h>

#include "util/path.h"

bool dh_finding_is_free(const struct dh_finding *f)
{
    return f->accesses[0].kind == DH_MODEL_FREE || f->accesses[1].kind == DH_MODEL_FREE;
}

const char *dh_finding_lock_name(struct dh_arena *arena, const char *name)
{
    const char *inside = strstr(name, "._M_");
    return inside && inside > name ? dh_arena_dup(arena, name, (size_t)(inside - name)) : name;
}

/* ---- Identity ---------------------------------------------------------------------------------------- */

/* Without code there are only names, and these do not change. */
static void identify_by_names(struct dh_arena *arena, struct dh_finding *f)
{
    struct dh_fingerprint_side sides[2];
    struct dh_fingerprint_memory memory = {.place = f->location.place, .name = f->location.variable.name};
    for (int i = 0; i < 2; i++) {
        const struct dh_finding_access *a = &f->accesses[i];
        sides[i] =
            (struct dh_fingerprint_side){.kind = a->kind, .atomic = a->atomic, .at.function = a->place};
    }
    f->fingerprint.identity = dh_fingerprint_text(arena, sides, &memory);
    dh_fingerprint_hash(f->fingerprint.identity, f->fingerprint.hash);
}

const char *dh_finding_line(struct dh_arena *arena, const struct dh_finding_access *a)
{
    const struct dh_symbol_frame *top = dh_symbol_top(&a->stack);
    if (top && top->unit_file)
        return dh_arena_printf(arena, "%s:%d", top->unit_file, top->line);
    if (top && top->module)
        return dh_arena_printf(arena, "%s+0x%" PRIx64, dh_path_base(top->module), top->offset);
    return a->place;
}

/* More than is in the identity: a stack variable is the same within a run, though its name is not known in
 * every run. */
static const char *named_memory(struct dh_arena *arena, const struct dh_finding_location *at)
{
    return dh_arena_printf(arena, "%s %s %s", dh_finding_places[at->place],
                           at->variable.function ? at->variable.function : "", at->variable.shape);
}

/* The place where memory was mapped is known only to the static analysis. */
static bool is_mapped(const struct dh_finding_location *at)
{
    return at->allocator && (strcmp(at->allocator, "mmap") == 0 || strcmp(at->allocator, "mmap64") == 0);
}

void dh_finding_identify(struct dh_arena *arena, struct dh_finding *f)
{
    const struct dh_finding_location *at = &f->location;
    enum dh_model_place place = is_mapped(at) ? DH_MODEL_UNKNOWN : at->place;
    struct dh_fingerprint_race race = {
        .place = place,
        .variable = at->has_variable ? &at->variable : NULL,
        .allocated_at = &at->allocated_at,
    };
    if (place == DH_MODEL_VARIABLE) {
        identify_by_names(arena, f);
        f->memory = named_memory(arena, at);
        return;
    }
    for (int i = 0; i < 2; i++) {
        const struct dh_finding_access *a = &f->accesses[i];
        race.accesses[i] = (struct dh_fingerprint_access){a->kind, a->atomic, &a->stack};
    }
    dh_fingerprint_of(arena, &race, &f->fingerprint);
    f->memory = place == DH_MODEL_HEAP
                    ? (at->allocated_at.n ? strrchr(f->fingerprint.identity, '|') + 1 : NULL)
                : at->has_variable ? named_memory(arena, at)
                                   : NULL;
}

/* ---- Suppressions ------------------------------------------------------------------------------------ */

static struct dh_suppress_rule *match_frame(const struct dh_suppress *s, enum dh_suppress_type type,
                                            const struct dh_symbol_frame *f)
{
    struct dh_suppress_rule *rule = dh_suppress_find(s, type, f->function);
    if (!rule && f->brief != f->function)
        rule = dh_suppress_find(s, type, f->brief);
    if (!rule)
        rule = dh_suppress_find(s, type, f->file);
    if (!rule)
        rule = dh_suppress_find(s, type, f->unit_file);
    return rule ? rule : dh_suppress_find(s, type, f->module);
}

static struct dh_suppress_rule *match_stack(const struct dh_suppress *s, const struct dh_symbol_trace *stack)
{
    struct dh_suppress_rule *rule;
    if (stack->n && (rule = match_frame(s, DH_SUPPRESS_RACE_TOP, &stack->frames[0])))
        return rule;
    for (size_t i = 0; i < stack->n; i++) {
        if ((rule = match_frame(s, DH_SUPPRESS_RACE, &stack->frames[i])) ||
            (rule = dh_suppress_find(s, DH_SUPPRESS_CALLED_FROM_LIB, stack->frames[i].module)))
            return rule;
    }
    return NULL;
}

/* An access that stands for others is suppressed if all of them are. */
static struct dh_suppress_rule *match_access(const struct dh_suppress *s, const struct dh_finding_access *a)
{
    struct dh_suppress_rule *rule = match_stack(s, &a->stack);
    if (!rule && (rule = dh_suppress_find(s, DH_SUPPRESS_RACE, a->place)) == NULL)
        rule = dh_suppress_find(s, DH_SUPPRESS_RACE_TOP, a->place);
    DH_ASSERT(a->n_listed == a->n_alike);
    for (size_t i = 0; rule && i < a->n_alike; i++) {
        const struct dh_symbol_trace place = {&a->alike[i].at, 1};
        if (!match_stack(s, &place))
            return NULL;
    }
    return rule;
}

struct dh_suppress_rule *dh_finding_suppressed(const struct dh_finding *f, const struct dh_suppress *s)
{
    struct dh_suppress_rule *rule;
    if (!s->rules)
        return NULL;
    if ((rule = dh_suppress_find(s, DH_SUPPRESS_FINGERPRINT, f->fingerprint.hash)) ||
        (rule = dh_suppress_find(s, DH_SUPPRESS_FINGERPRINT, f->fingerprint.old_hash)))
        return rule;
    for (int i = 0; i < 2; i++) {
        if ((rule = match_access(s, &f->accesses[i])))
            return rule;
    }
    const struct dh_symbol_variable *v = &f->location.variable;
    const char *names[] = {v->name, v->display, v->brief, f->location.field.member,
                           f->location.field.brief_member}; /* those that it has */
    for (size_t i = 0; i < DH_ARRAY_LEN(names); i++)
        if ((rule = dh_suppress_find(s, DH_SUPPRESS_RACE, names[i])))
            return rule;
    return NULL;
}
