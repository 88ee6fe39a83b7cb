/*
 * explain.c - describes in words what was raced on and why nothing ordered the two accesses. The text is for
 * people in every output format, so names in it are sanitised (util/text.h).
 */
#include <string.h>

#include "report/finding.h"
#include "util/text.h"

const char *const dh_finding_kinds[] = {"read", "write", "free", "update"};
const char *const dh_finding_places[] = {"unknown", "heap", "global", "stack", "tls", "variable"};

const char *dh_finding_title(const struct dh_finding *f)
{
    static const char *const titles[][2] = {
        [DH_FINDING_OBSERVED] = {"data race", "use-after-free race"},
        [DH_FINDING_PREDICTED] = {"predicted data race", "predicted use-after-free race"},
        [DH_FINDING_POSSIBLE] = {"possible data race", "possible use-after-free race"},
        [DH_FINDING_CONFIRMED] = {"confirmed data race", "confirmed use-after-free race"},
    };
    return titles[f->provenance][dh_finding_is_free(f)];
}

/* "static `calls` of `worker`" */
static const char *named_variable(struct dh_arena *arena, const struct dh_finding_location *at,
                                  const char *kind)
{
    const char *name = dh_text_shown(arena, at->variable.shown);
    if (at->variable.function && at->place != DH_MODEL_HEAP) /* of a block: the function that allocates it */
        return dh_arena_printf(arena, "%s `%s` of `%s`", kind, name,
                               dh_text_shown(arena, at->variable.shown_function));
    return dh_arena_printf(arena, "%s `%s`", kind, name);
}

/* Memory of one thread: its stack, or thread-local storage. */
static const char *threads_own(struct dh_arena *arena, const struct dh_finding_location *at)
{
    const char *of = at->thread_label ? dh_arena_printf(arena, " of thread %s", at->thread_label) : "";
    if (at->place == DH_MODEL_STACK)
        return at->has_variable ? named_variable(arena, at, "stack variable")
                                : dh_arena_printf(arena, "the stack%s", of);
    return dh_arena_printf(
        arena, "%s%s",
        at->has_variable ? named_variable(arena, at, "thread-local") : "a thread-local variable", of);
}

const char *dh_finding_subject(struct dh_arena *arena, const struct dh_finding *f)
{
    const struct dh_finding_location *at = &f->location;
    switch (at->place) {
    case DH_MODEL_GLOBAL:
        return at->has_variable ? named_variable(arena, at, at->variable.function ? "static" : "global")
                                : "a global variable";
    case DH_MODEL_HEAP:
        if (at->has_field)
            return dh_arena_printf(arena, "field `%s` of `%s`", dh_text_shown(arena, at->field.name),
                                   dh_text_shown(arena, at->field.shown_type));
        if (!at->size && at->has_variable)
            return named_variable(arena, at, "heap");
        return at->size ? dh_arena_printf(arena, "a heap block of %llu byte%s", (unsigned long long)at->size,
                                          at->size == 1 ? "" : "s")
                        : "a heap block";
    case DH_MODEL_STACK:
    case DH_MODEL_TLS:
        return threads_own(arena, at);
    case DH_MODEL_VARIABLE:
        return named_variable(arena, at, "variable");
    case DH_MODEL_UNKNOWN:
        break;
    }
    return f->accesses[0].addr
               ? dh_arena_printf(arena, "memory at 0x%llx", (unsigned long long)f->accesses[0].addr)
               : "memory that is not known";
}

const char *dh_finding_did(struct dh_arena *arena, const struct dh_finding_access *a)
{
    const char *kind = dh_arena_printf(arena, "%s%s", a->atomic && a->kind != DH_MODEL_FREE ? "atomic " : "",
                                       dh_finding_kinds[a->kind]);
    if (!a->size)
        return kind;
    return dh_arena_printf(arena, "%s of %s%llu byte%s", kind, a->at_least ? "at least " : "",
                           (unsigned long long)a->size, a->size == 1 ? "" : "s");
}

const char *dh_finding_held(struct dh_arena *arena, const struct dh_finding_access *a)
{
    const char *text = "";
    if (a->n_locks == 0)
        return "no lock";
    for (size_t i = 0; i < a->n_locks; i++) {
        const char *before = i == 0 ? "" : i + 1 == a->n_locks ? " and " : ", ";
        text = dh_arena_printf(arena, "%s%s`%s`%s", text, before, dh_text_shown(arena, a->locks[i].shown),
                               a->locks[i].shared ? " (for reading)" : "");
    }
    return text;
}

/* ---- Why ----------------------------------------------------------------------------------------------- */

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

static const char *explain_free(struct dh_arena *arena, bool both, bool now, const char *t1, const char *t2)
{
    if (both)
        return dh_arena_printf(
            arena, "Threads %s and %s both freed this memory, and nothing ordered the two.", t1, t2);
    if (now)
        return dh_arena_printf(
            arena, "Thread %s freed memory without waiting for thread %s to be done with it.", t1, t2);
    return dh_arena_printf(arena,
                           "Thread %s used memory that thread %s had freed; nothing ordered the use "
                           "before the free.",
                           t1, t2);
}

/* From the locks that two threads held. */
static const char *explain_locks(struct dh_arena *arena, const struct dh_finding *f)
{
    const struct dh_finding_access *now = &f->accesses[0], *then = &f->accesses[1];
    const char *t1 = now->run_by, *t2 = then->run_by;
    bool both_read = false;
    const struct dh_finding_lock *common = common_lock(f, &both_read);
    if (dh_finding_is_free(f))
        return explain_free(arena, now->kind == then->kind, now->kind == DH_MODEL_FREE, t1, t2);
    if (common && both_read)
        return dh_arena_printf(
            arena, "Both threads held `%s`, but only for reading, which does not keep them apart.",
            dh_text_shown(arena, common->shown));
    if (common)
        return dh_arena_printf(
            arena,
            "Both threads held `%s`, yet nothing orders the accesses: it was not the same "
            "lock for both (destroyed and initialised again, or unlocked by another thread).",
            dh_text_shown(arena, common->shown));
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

static const char *explain_possible(struct dh_arena *arena, const struct dh_finding_possible *p)
{
    const char *text = "";
    for (size_t i = 0; i < p->n_reasons; i++)
        text = dh_arena_printf(arena, "%s%s%s", text, i ? "; " : "", p->reasons[i].sentence);
    if (p->note)
        text = dh_arena_printf(arena, "%s%s%s", text, text[0] ? "; " : "", dh_text_shown(arena, p->note));
    return text;
}

const char *dh_finding_explain(struct dh_arena *arena, const struct dh_finding *f)
{
    if (f->provenance == DH_FINDING_POSSIBLE)
        return explain_possible(arena, &f->possible);
    if (f->provenance == DH_FINDING_CONFIRMED && f->confirmed.analysis)
        return dh_arena_printf(arena,
                               "Nothing orders the access by thread %s after the earlier one by thread %s.",
                               f->accesses[0].run_by, f->accesses[1].run_by);
    if (f->provenance == DH_FINDING_CONFIRMED)
        return dh_arena_printf(arena, "Threads %s and %s were caught at these two accesses at the same time.",
                               f->accesses[0].run_by, f->accesses[1].run_by);
    if (f->accesses[0].locks_known && f->accesses[1].locks_known)
        return explain_locks(arena, f);
    if (f->provenance == DH_FINDING_PREDICTED)
        return "Another order of the same events lets the two meet.";
    return f->guarantee && strcmp(f->guarantee, "precise") == 0
               ? "Nothing in the trace orders the two accesses."
               : "Nothing that the detector considers orders the two accesses.";
}

const char *dh_finding_confirmed(struct dh_arena *arena, const struct dh_finding *f)
{
    static const char *const orders[] = {
        [DH_MODEL_ORDER_UNKNOWN] = "",
        [DH_MODEL_AS_SHOWN] = ", the earlier access first",
        [DH_MODEL_REVERSED] = ", the earlier access last",
        [DH_MODEL_BOTH] = ", in both orders",
    };
    const struct dh_model_confirmed *c = &f->confirmed;
    return dh_arena_printf(arena, "It was confirmed in the field%s%s%s%s%s%s%s", orders[c->order],
                           c->consequence ? ". Consequence: " : "",
                           c->consequence ? dh_text_shown(arena, c->consequence) : "", c->detail ? " (" : "",
                           c->detail ? dh_text_shown(arena, c->detail) : "", c->detail ? ")" : "",
                           c->maybe_atomic ? ". Machine code does not tell atomic accesses from plain ones: "
                                             "if both are atomic in the source, "
                                             "this is no race"
                                           : "");
}
