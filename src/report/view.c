/*
 * view.c - naming everything in a race; its identity; whether it is suppressed. See view.h.
 */
#include "report/view.h"

#include <string.h>

#include "util/path.h"
#include "util/text.h"

const char *dh_view_thread_label(struct dh_arena *arena, const struct dh_model_process *process, u64 uid)
{
    const struct dh_model_thread *t = dh_model_find_thread(process, uid);
    if (t && t->name[0])
        return dh_arena_printf(arena, "T%llu '%s'", (unsigned long long)uid, dh_text_shown(arena, t->name));
    return dh_arena_printf(arena, "T%llu", (unsigned long long)uid);
}

struct builder {
    struct dh_arena *arena;
    struct dh_symbol *symbols;
    const struct dh_model_race *race;
    bool brief;
    u64 *anonymous; /* addresses of the locks called M1, M2 ... */
    size_t n_anonymous;
};

static const char *lock_name(struct builder *b, const struct dh_model_lock *lock, bool *ret_named)
{
    struct dh_symbol_variable variable;
    *ret_named = dh_symbol_find_variable(b->symbols, lock->module, lock->offset, 0, &variable);
    if (*ret_named) {
        /* A lock's address is also its first member's: leave out the insides of the C++ library's locks. */
        char *name = dh_arena_strdup(b->arena, variable.display);
        char *inside = strstr(name, "._M_");
        if (inside && inside > name)
            *inside = 0;
        return name;
    }
    size_t i = 0;
    while (i < b->n_anonymous && b->anonymous[i] != lock->addr)
        i++;
    if (i == b->n_anonymous)
        b->anonymous[b->n_anonymous++] = lock->addr;
    return dh_arena_printf(b->arena, "M%zu", i + 1);
}

/* The libraries that a stack of the program's begins in are left out where they will not be looked at: their
 * debug information may be large, compressed, or to be searched for, and the first report waits for it. */
static void name_stack(const struct builder *b, const struct dh_model_stack *stack,
                       struct dh_symbol_trace *ret)
{
    struct dh_model_stack inner = *stack;
    while (b->brief && inner.n &&
           (!inner.frames[inner.n - 1].module || dh_path_is_system(inner.frames[inner.n - 1].module->path)))
        inner.n--;
    dh_symbol_trace_stack(b->symbols, inner.n ? &inner : stack, ret);
}

static void build_access(struct builder *b, const struct dh_model_access *access, struct dh_view_access *ret)
{
    const struct dh_model_process *process = b->race->process;
    ret->access = access;
    ret->thread.uid = access->thread;
    ret->thread.label = dh_view_thread_label(b->arena, process, access->thread);
    ret->thread.info = dh_model_find_thread(process, access->thread);
    if (ret->thread.info)
        name_stack(b, &ret->thread.info->created_at, &ret->thread.created_at);
    name_stack(b, &access->stack, &ret->stack);
    ret->n_locks = access->n_locks;
    ret->locks = dh_arena_array(b->arena, access->n_locks, sizeof(*ret->locks));
    for (size_t i = 0; i < access->n_locks; i++) {
        ret->locks[i].lock = &access->locks[i];
        ret->locks[i].name = lock_name(b, &access->locks[i], &ret->locks[i].named);
        name_stack(b, &access->locks[i].acquired_at, &ret->locks[i].acquired_at);
    }
}

struct dh_view *dh_view_new(struct dh_arena *arena, struct dh_symbol *symbols,
                            const struct dh_model_race *race, bool brief)
{
    struct builder b = {.arena = arena, .symbols = symbols, .race = race, .brief = brief};
    struct dh_view *v = dh_arena_alloc(arena, sizeof(*v));
    const struct dh_model_location *at = &race->location;
    v->race = race;
    b.anonymous = dh_arena_array(arena, race->accesses[0].n_locks + race->accesses[1].n_locks, sizeof(u64));
    for (int i = 0; i < 2; i++)
        build_access(&b, &race->accesses[i], &v->accesses[i]);
    /* The smaller access names the member. */
    u64 sizes[2] = {race->accesses[0].size, race->accesses[1].size};
    u64 size = sizes[0] < sizes[1] ? sizes[0] : sizes[1];
    if (at->place == DH_MODEL_GLOBAL)
        v->has_variable = dh_symbol_find_variable(symbols, at->module, at->offset, size, &v->variable);
    else if (at->place == DH_MODEL_TLS)
        v->has_variable = dh_symbol_find_tls(symbols, at->module, at->offset, size, &v->variable);
    /* The frame was unwound by its own thread, or put together from outside and needs a second opinion. */
    bool sure = at->thread == race->accesses[0].thread || dh_symbol_check_frame(symbols, &at->frame);
    if (at->place == DH_MODEL_STACK && sure) {
        v->has_variable =
            dh_symbol_find_local(symbols, &at->frame, race->accesses[1].addr, size, &v->variable);
        dh_symbol_trace_stack(symbols, &at->frame.pc, &v->frame);
    }
    name_stack(&b, &at->allocated_at, &v->allocated_at);
    if (at->place != DH_MODEL_GLOBAL && at->thread)
        v->location_thread = dh_view_thread_label(arena, race->process, at->thread);
    return v;
}

bool dh_view_is_free(const struct dh_view *v)
{
    return v->accesses[0].access->kind == DH_MODEL_FREE || v->accesses[1].access->kind == DH_MODEL_FREE;
}

bool dh_view_in_project(const struct dh_symbol_frame *f)
{
    return (f->file || f->module) && !dh_path_is_system(f->file) && !dh_path_is_system(f->module);
}

const struct dh_symbol_frame *dh_view_top(const struct dh_symbol_trace *trace)
{
    for (size_t i = 0; i < trace->n; i++) {
        if (dh_view_in_project(&trace->frames[i]))
            return &trace->frames[i];
    }
    return trace->n ? &trace->frames[0] : NULL;
}

/* ---- Identity ---------------------------------------------------------------------------------------- */

static const char *place_of(struct dh_arena *arena, const struct dh_symbol_frame *f)
{
    if (!f)
        return "?";
    if (f->unit_file)
        return dh_arena_printf(arena, "%s %s:%d", f->function ? f->function : "?", f->unit_file, f->line);
    return dh_arena_printf(arena, "%s+0x%llx", f->module ? dh_path_base(f->module) : "?",
                           (unsigned long long)f->offset);
}

const char *dh_view_fingerprint(struct dh_arena *arena, const struct dh_view *v)
{
    static const char *const kinds[] = {"read", "write", "free"};
    const char *sides[2];
    for (int i = 0; i < 2; i++) {
        const struct dh_view_access *a = &v->accesses[i];
        sides[i] =
            dh_arena_printf(arena, "%s %s", kinds[a->access->kind], place_of(arena, dh_view_top(&a->stack)));
    }
    int first = strcmp(sides[0], sides[1]) <= 0 ? 0 : 1;
    const char *where = "unknown";
    switch (v->race->location.place) {
    case DH_MODEL_GLOBAL:
        where = v->has_variable ? dh_arena_printf(arena, "global %s", v->variable.shape) : "global";
        break;
    case DH_MODEL_HEAP:
        where = dh_arena_printf(arena, "heap %s", place_of(arena, dh_view_top(&v->allocated_at)));
        break;
    case DH_MODEL_STACK: /* its name is known only if the owner came second: that must not make two races */
        where = "stack";
        break;
    case DH_MODEL_TLS:
        where = v->has_variable ? dh_arena_printf(arena, "tls %s", v->variable.shape) : "tls";
        break;
    case DH_MODEL_UNKNOWN:
        break;
    }
    return dh_arena_printf(arena, "1|%s|%s|%s", sides[first], sides[1 - first], where);
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

struct dh_suppress_rule *dh_view_suppressed(const struct dh_view *v, const struct dh_suppress *s)
{
    struct dh_suppress_rule *rule;
    if (!s->rules)
        return NULL;
    for (int i = 0; i < 2; i++) {
        const struct dh_symbol_trace *stack = &v->accesses[i].stack;
        if (stack->n && (rule = match_frame(s, DH_SUPPRESS_RACE_TOP, &stack->frames[0])))
            return rule;
        for (size_t j = 0; j < stack->n; j++) {
            if ((rule = match_frame(s, DH_SUPPRESS_RACE, &stack->frames[j])) ||
                (rule = dh_suppress_find(s, DH_SUPPRESS_CALLED_FROM_LIB, stack->frames[j].module)))
                return rule;
        }
    }
    if (!v->has_variable)
        return NULL;
    rule = dh_suppress_find(s, DH_SUPPRESS_RACE, v->variable.name);
    return rule ? rule : dh_suppress_find(s, DH_SUPPRESS_RACE, v->variable.display);
}
