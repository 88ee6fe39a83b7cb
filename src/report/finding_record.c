/*
 * finding_record.c - turns a race record into a finding by naming everything in it. See finding.h.
 */
#include "report/finding.h"

#include "util/path.h"
#include "util/text.h"

static const char *thread_label(struct dh_arena *arena, const struct dh_model_process *process, u64 uid)
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

static void name_lock(struct builder *b, const struct dh_model_lock *lock, struct dh_finding_lock *ret)
{
    struct dh_symbol_variable variable;
    ret->named = dh_symbol_find_variable(b->symbols, lock->module, lock->offset, 0, &variable);
    if (ret->named) {
        ret->name = dh_finding_lock_name(b->arena, variable.display);
        ret->shown = dh_finding_lock_name(b->arena, variable.shown);
        return;
    }
    size_t i = 0;
    while (i < b->n_anonymous && b->anonymous[i] != lock->addr)
        i++;
    if (i == b->n_anonymous)
        b->anonymous[b->n_anonymous++] = lock->addr;
    ret->name = ret->shown = dh_arena_printf(b->arena, "M%zu", i + 1);
}

/* The library frames at the outer end of a stack are dropped if they will not be shown: their debug
 * information may be large, compressed or in need of searching, which would delay the first report. */
static void name_stack(const struct builder *b, const struct dh_model_stack *stack,
                       struct dh_symbol_trace *ret)
{
    struct dh_model_stack inner = *stack;
    while (b->brief && inner.n &&
           (!inner.frames[inner.n - 1].module || dh_path_is_system(inner.frames[inner.n - 1].module->path)))
        inner.n--;
    dh_symbol_trace_stack(b->symbols, inner.n ? &inner : stack, ret);
}

static void name_thread(const struct builder *b, u64 uid, struct dh_finding_thread *ret)
{
    const struct dh_model_process *process = b->race->process;
    const struct dh_model_thread *t = dh_model_find_thread(process, uid);
    ret->uid = uid;
    ret->label = thread_label(b->arena, process, uid);
    if (!t)
        return;
    ret->name = t->name;
    ret->tid = t->tid;
    ret->parent = t->parent;
    if (t->parent)
        ret->parent_label = thread_label(b->arena, process, t->parent);
    name_stack(b, &t->created_at, &ret->created_at);
}

static void name_access(struct builder *b, const struct dh_model_access *access,
                        struct dh_finding_access *ret)
{
    *ret = (struct dh_finding_access){
        .known = true,
        .kind = access->kind,
        .atomic = access->atomic,
        .range = access->range,
        .stack_folded = access->stack_folded,
        .addr = access->addr,
        .size = access->size,
        .at_least =
            access->range && access != b->race->accesses, /* the shadow has no more about the earlier one */
        .threads = dh_arena_alloc(b->arena, sizeof(*ret->threads)),
        .n_threads = 1,
        .locks_known = !b->race->confirmed, /* not recorded in the field */
        .locks = dh_arena_array(b->arena, access->n_locks, sizeof(*ret->locks)),
        .n_locks = access->n_locks,
    };
    name_thread(b, access->thread, ret->threads);
    ret->run_by = ret->threads->label;
    name_stack(b, &access->stack, &ret->stack);
    for (size_t i = 0; i < access->n_locks; i++) {
        const struct dh_model_lock *lock = &access->locks[i];
        ret->locks[i].addr = lock->addr;
        ret->locks[i].shared = lock->read_mode;
        name_lock(b, lock, &ret->locks[i]);
        name_stack(b, &lock->acquired_at, &ret->locks[i].acquired_at);
    }
}

static void name_location(const struct builder *b, struct dh_finding_location *ret)
{
    const struct dh_model_race *race = b->race;
    const struct dh_model_location *at = &race->location;
    *ret = (struct dh_finding_location){.place = at->place, .freed = at->freed};
    /* The smaller access names the member. */
    u64 sizes[2] = {race->accesses[0].size, race->accesses[1].size};
    u64 size = sizes[0] < sizes[1] ? sizes[0] : sizes[1];
    bool sure;
    switch (at->place) {
    case DH_MODEL_GLOBAL:
        ret->module = at->module ? at->module->path : NULL;
        ret->module_offset = at->offset;
        ret->has_variable = dh_symbol_find_variable(b->symbols, at->module, at->offset, size, &ret->variable);
        return;
    case DH_MODEL_TLS:
        ret->has_variable = dh_symbol_find_tls(b->symbols, at->module, at->offset, size, &ret->variable);
        break;
    case DH_MODEL_STACK:
        /* The frame was unwound by its own thread, or put together from outside and needs a second opinion.
         */
        sure = at->thread == race->accesses[0].thread || dh_symbol_check_frame(b->symbols, &at->frame);
        if (!sure)
            break;
        ret->has_variable =
            dh_symbol_find_local(b->symbols, &at->frame, race->accesses[1].addr, size, &ret->variable);
        dh_symbol_trace_stack(b->symbols, &at->frame.pc, &ret->frame);
        break;
    case DH_MODEL_HEAP:
        ret->start = at->start;
        ret->size = at->size;
        ret->offset = at->offset;
        name_stack(b, &at->allocated_at, &ret->allocated_at);
        break;
    case DH_MODEL_UNKNOWN:
    case DH_MODEL_VARIABLE:
        break;
    }
    ret->thread = at->thread;
    if (at->thread)
        ret->thread_label = thread_label(b->arena, race->process, at->thread);
}

static bool holds(const struct dh_model_access *a, u64 lock)
{
    for (size_t i = 0; i < a->n_locks; i++)
        if (a->locks[i].addr == lock)
            return true;
    return false;
}

static bool holds_from(const struct dh_model_access *a, const struct dh_model_frame *call)
{
    for (size_t i = 0; i < a->n_locks; i++) {
        const struct dh_model_stack *at = &a->locks[i].acquired_at;
        if (at->n && at->frames[0].module == call->module && at->frames[0].offset == call->offset)
            return true;
    }
    return false;
}

/* NULL: it has no name, and the report does not mention it otherwise. */
static const char *name_known(struct builder *b, const struct dh_model_lock *lock)
{
    struct dh_finding_lock named;
    name_lock(b, lock, &named);
    bool told = holds(&b->race->accesses[0], lock->addr) || holds(&b->race->accesses[1], lock->addr);
    return named.named || told ? named.shown : NULL;
}

static void name_discipline(struct builder *b, struct dh_finding_discipline *ret)
{
    const struct dh_model_race *race = b->race;
    const struct dh_model_discipline *d = &race->discipline;
    *ret = (struct dh_finding_discipline){.accesses = d->accesses};
    if (d->held) {
        ret->held = d->held;
        ret->lock = name_known(b, &d->lock);
    }
    if (d->held_from) {
        struct dh_model_frame call = d->taken_at;
        struct dh_model_stack stack = {.frames = &call, .n = 1};
        ret->held_from = d->held_from;
        dh_symbol_trace_stack(b->symbols, &stack, &ret->taken_at);
    }
    ret->observations = d->observations;
    if (d->ordered) {
        ret->ordered = d->ordered;
        ret->order = name_known(b, &d->order);
        ret->order_addr = d->order.addr;
    }
    for (int i = 0; i < 2; i++) {
        ret->lacks[i] = !holds(&race->accesses[i], d->lock.addr);
        ret->lacks_from[i] = !holds_from(&race->accesses[i], &d->taken_at);
    }
}

static void find_field(const struct builder *b, struct dh_finding *f)
{
    struct dh_finding_location *at = &f->location;
    struct dh_symbol_block block = {.size = at->size, .allocated_at = &at->allocated_at};
    for (int i = 0; i < 2; i++) {
        const struct dh_finding_access *a = &f->accesses[i];
        block.touches[i] = (struct dh_symbol_touch){a->addr - at->start, a->size, a->kind == DH_MODEL_FREE,
                                                    a->range, &a->stack};
    }
    at->has_field = dh_symbol_find_field(b->symbols, &block, &at->field);
}

void dh_finding_name_process(struct dh_finding *f, const struct dh_model_process *process)
{
    f->detector = process->detector;
    f->guarantee = process->guarantee;
    f->process = process->id;
    f->pid = process->pid;
    f->exe = process->exe;
    f->test = process->test;
}

struct dh_finding *dh_finding_of_record(struct dh_arena *arena, struct dh_symbol *symbols,
                                        const struct dh_model_race *race, bool brief)
{
    struct builder b = {.arena = arena, .symbols = symbols, .race = race, .brief = brief};
    struct dh_finding *f = dh_arena_alloc(arena, sizeof(*f));
    f->provenance = race->confirmed ? DH_FINDING_CONFIRMED : DH_FINDING_OBSERVED;
    f->confirmed = race->how;
    dh_finding_name_process(f, race->process);
    b.anonymous =
        dh_arena_array(arena, race->accesses[0].n_locks + race->accesses[1].n_locks + 2, sizeof(u64));
    for (int i = 0; i < 2; i++)
        name_access(&b, &race->accesses[i], &f->accesses[i]);
    dh_finding_name_test(arena, f);
    name_location(&b, &f->location);
    if (f->location.place == DH_MODEL_HEAP)
        find_field(&b, f);
    name_discipline(&b, &f->discipline);
    f->newest_thread = race->newest_thread;
    for (int i = 0; i < 2; i++)
        f->accesses[i].newest_thread = race->newest_thread && race->accesses[i].thread == race->newest_thread;
    dh_finding_identify(arena, f);
    return f;
}
