/*
 * finding_trace.c - see finding_trace.h.
 */
#include "report/finding_trace.h"

#include "util/text.h"

static void name_access(struct dh_arena *arena, const struct dh_finding_trace_access *access,
                        struct dh_finding_access *ret)
{
    *ret = (struct dh_finding_access){.run_by = "a thread that is not known"};
    if (!access->known)
        return;
    ret->known = true;
    ret->kind = access->write ? DH_MODEL_WRITE : DH_MODEL_READ;
    ret->place = dh_arena_strdup(arena, access->place);
    ret->event = access->event;
    ret->language_access = access->language_access;
    ret->n_threads = 1;
    ret->threads = dh_arena_alloc(arena, sizeof(*ret->threads));
    ret->threads->name = dh_arena_strdup(arena, access->thread);
    ret->threads->label = ret->run_by = dh_text_shown(arena, ret->threads->name);
}

struct dh_finding *dh_finding_of_trace(struct dh_arena *arena, const struct dh_finding_trace *race)
{
    struct dh_finding *f = dh_arena_alloc(arena, sizeof(*f));
    struct dh_symbol_variable *v = &f->location.variable;
    for (int i = 0; i < 2; i++)
        name_access(arena, &race->accesses[i], &f->accesses[i]);
    f->location.place = DH_MODEL_VARIABLE;
    f->location.has_variable = true;
    v->name = v->display = v->shape = dh_arena_strdup(arena, race->variable);
    if (race->expression)
        v->display = dh_arena_strdup(arena, race->expression);
    v->brief = v->shown = v->display;
    v->shown_name = v->name;
    dh_finding_identify(arena, f);
    return f;
}
