/*
 * explain.c - saying in words what was raced on and why nothing ordered the two accesses. The words are for
 * people in every form of a report, so names in them are as util/text.h shows them.
 */
#include "report/finding.h"
#include "util/text.h"

/* "static `calls` of `worker`" */
static const char *named_variable(struct dh_arena *arena, const struct dh_finding_location *at,
                                  const char *kind)
{
    const char *name = dh_text_shown(arena, at->variable.display);
    if (at->variable.function)
        return dh_arena_printf(arena, "%s `%s` of `%s`", kind, name,
                               dh_text_shown(arena, at->variable.function));
    return dh_arena_printf(arena, "%s `%s`", kind, name);
}

const char *dh_finding_subject(struct dh_arena *arena, const struct dh_finding *f)
{
    const struct dh_finding_location *at = &f->location;
    const char *owner = at->thread_label ? at->thread_label : "?";
    switch (at->place) {
    case DH_MODEL_GLOBAL:
        return at->has_variable ? named_variable(arena, at, at->variable.function ? "static" : "global")
                                : "a global variable";
    case DH_MODEL_HEAP:
        return dh_arena_printf(arena, "a heap block of %llu byte%s", (unsigned long long)at->size,
                               at->size == 1 ? "" : "s");
    case DH_MODEL_STACK:
        if (at->has_variable)
            return named_variable(arena, at, "stack variable");
        return dh_arena_printf(arena, "the stack of thread %s", owner);
    case DH_MODEL_TLS:
        return dh_arena_printf(
            arena, "%s of thread %s",
            at->has_variable ? named_variable(arena, at, "thread-local") : "a thread-local variable", owner);
    case DH_MODEL_UNKNOWN:
        break;
    }
    return dh_arena_printf(arena, "memory at 0x%llx", (unsigned long long)f->accesses[0].addr);
}

const char *dh_finding_held(struct dh_arena *arena, const struct dh_finding_access *a)
{
    const char *text = "";
    if (a->n_locks == 0)
        return "no lock";
    for (size_t i = 0; i < a->n_locks; i++) {
        const char *before = i == 0 ? "" : i + 1 == a->n_locks ? " and " : ", ";
        text = dh_arena_printf(arena, "%s%s`%s`%s", text, before, dh_text_shown(arena, a->locks[i].name),
                               a->locks[i].shared ? " (for reading)" : "");
    }
    return text;
}

/* A lock both held, or NULL. */
static const struct dh_finding_lock *common_lock(const struct dh_finding *f, bool *ret_both_read)
{
    for (size_t i = 0; i < f->accesses[0].n_locks; i++) {
        for (size_t j = 0; j < f->accesses[1].n_locks; j++) {
            const struct dh_finding_lock *a = &f->accesses[0].locks[i], *b = &f->accesses[1].locks[j];
            if (a->addr != b->addr)
                continue;
            *ret_both_read = a->shared && b->shared;
            return a;
        }
    }
    return NULL;
}

const char *dh_finding_explain(struct dh_arena *arena, const struct dh_finding *f)
{
    const struct dh_finding_access *now = &f->accesses[0], *then = &f->accesses[1];
    const char *t1 = now->threads->label, *t2 = then->threads->label;
    bool both_read = false;
    const struct dh_finding_lock *common = common_lock(f, &both_read);
    if (then->kind == DH_MODEL_FREE && now->kind != DH_MODEL_FREE)
        return dh_arena_printf(arena,
                               "Thread %s used memory that thread %s had freed; nothing ordered the use "
                               "before the free.",
                               t1, t2);
    if (now->kind == DH_MODEL_FREE && then->kind == DH_MODEL_FREE)
        return dh_arena_printf(arena, "Threads %s and %s both freed this memory, with nothing between them.",
                               t1, t2);
    if (now->kind == DH_MODEL_FREE)
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
        if (now->atomic != then->atomic)
            return dh_arena_printf(
                arena,
                "Thread %s made an atomic access, thread %s a plain one, and neither held a "
                "lock.",
                now->atomic ? t1 : t2, now->atomic ? t2 : t1);
        return dh_arena_printf(arena, "Neither thread %s nor thread %s held a lock.", t1, t2);
    }
    return dh_arena_printf(arena, "Thread %s held %s for this access; thread %s held %s%s.", t1,
                           dh_finding_held(arena, now), t2, dh_finding_held(arena, then),
                           now->n_locks && then->n_locks ? ": no lock in common" : "");
}
