/*
 * explain.c - saying in words what was raced on and why nothing ordered the two accesses. The words are for
 * people in every form of a report, so names in them are as util/text.h shows them.
 */
#include "report/view.h"
#include "util/text.h"

/* "static `calls` of `worker`" */
static const char *named_variable(struct dh_arena *arena, const struct dh_view *v, const char *kind)
{
    const char *name = dh_text_shown(arena, v->variable.display);
    if (v->variable.function)
        return dh_arena_printf(arena, "%s `%s` of `%s`", kind, name,
                               dh_text_shown(arena, v->variable.function));
    return dh_arena_printf(arena, "%s `%s`", kind, name);
}

const char *dh_view_subject(struct dh_arena *arena, const struct dh_view *v)
{
    const struct dh_model_location *at = &v->race->location;
    const char *owner = v->location_thread ? v->location_thread : "?";
    switch (at->place) {
    case DH_MODEL_GLOBAL:
        return v->has_variable ? named_variable(arena, v, v->variable.function ? "static" : "global")
                               : "a global variable";
    case DH_MODEL_HEAP:
        return dh_arena_printf(arena, "a heap block of %llu byte%s", (unsigned long long)at->size,
                               at->size == 1 ? "" : "s");
    case DH_MODEL_STACK:
        if (v->has_variable)
            return named_variable(arena, v, "stack variable");
        return dh_arena_printf(arena, "the stack of thread %s", owner);
    case DH_MODEL_TLS:
        return dh_arena_printf(
            arena, "%s of thread %s",
            v->has_variable ? named_variable(arena, v, "thread-local") : "a thread-local variable", owner);
    case DH_MODEL_UNKNOWN:
        break;
    }
    return dh_arena_printf(arena, "memory at 0x%llx", (unsigned long long)v->accesses[0].access->addr);
}

/* "`a`, `b` (for reading) and `c`", or "no lock". */
static const char *lock_list(struct dh_arena *arena, const struct dh_view_access *a)
{
    const char *text = "";
    if (a->n_locks == 0)
        return "no lock";
    for (size_t i = 0; i < a->n_locks; i++) {
        const char *before = i == 0 ? "" : i + 1 == a->n_locks ? " and " : ", ";
        text = dh_arena_printf(arena, "%s%s`%s`%s", text, before, dh_text_shown(arena, a->locks[i].name),
                               a->locks[i].lock->read_mode ? " (for reading)" : "");
    }
    return text;
}

/* A lock both held, or NULL. */
static const struct dh_view_lock *common_lock(const struct dh_view *v, bool *ret_both_read)
{
    for (size_t i = 0; i < v->accesses[0].n_locks; i++) {
        for (size_t j = 0; j < v->accesses[1].n_locks; j++) {
            const struct dh_model_lock *a = v->accesses[0].locks[i].lock;
            const struct dh_model_lock *b = v->accesses[1].locks[j].lock;
            if (a->addr != b->addr)
                continue;
            *ret_both_read = a->read_mode && b->read_mode;
            return &v->accesses[0].locks[i];
        }
    }
    return NULL;
}

const char *dh_view_explain(struct dh_arena *arena, const struct dh_view *v)
{
    const struct dh_view_access *now = &v->accesses[0], *then = &v->accesses[1];
    const char *t1 = now->thread.label, *t2 = then->thread.label;
    bool both_read = false;
    const struct dh_view_lock *common = common_lock(v, &both_read);
    if (then->access->kind == DH_MODEL_FREE && now->access->kind != DH_MODEL_FREE)
        return dh_arena_printf(arena,
                               "Thread %s used memory that thread %s had freed; nothing ordered the use "
                               "before the free.",
                               t1, t2);
    if (now->access->kind == DH_MODEL_FREE && then->access->kind == DH_MODEL_FREE)
        return dh_arena_printf(arena, "Threads %s and %s both freed this memory, with nothing between them.",
                               t1, t2);
    if (now->access->kind == DH_MODEL_FREE)
        return dh_arena_printf(
            arena, "Thread %s freed memory without waiting for thread %s to be done with it.", t1, t2);
    if (common && both_read)
        return dh_arena_printf(
            arena, "Both threads held `%s`, but only for reading, which does not keep them apart.",
            dh_text_shown(arena, common->name));
    if (common)
        return dh_arena_printf(
            arena,
            "Both threads held `%s`, yet nothing orders the accesses: it was not the same "
            "lock for both (destroyed and initialised again, or unlocked by another thread).",
            dh_text_shown(arena, common->name));
    if (now->n_locks == 0 && then->n_locks == 0) {
        if (now->access->atomic != then->access->atomic)
            return dh_arena_printf(
                arena,
                "Thread %s made an atomic access, thread %s a plain one, and neither held a "
                "lock.",
                now->access->atomic ? t1 : t2, now->access->atomic ? t2 : t1);
        return dh_arena_printf(arena, "Neither thread %s nor thread %s held a lock.", t1, t2);
    }
    return dh_arena_printf(arena, "Thread %s held %s for this access; thread %s held %s%s.", t1,
                           lock_list(arena, now), t2, lock_list(arena, then),
                           now->n_locks && then->n_locks ? ": no lock in common" : "");
}
