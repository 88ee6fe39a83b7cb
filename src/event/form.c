/*
 * form.c - see form.h.
 */
#include "event/form.h"

#include <string.h>

#include "base/pool.h"

void dh_form_done(struct dh_form *f)
{
    dh_pool_free(f->threads, f->cap_threads * sizeof(*f->threads));
    dh_pool_free(f->locks, f->cap_locks * sizeof(*f->locks));
    *f = (struct dh_form){0};
}

/* Room for element id of an array that starts zeroed; NULL: no memory. */
static void *reserve(void *items, u32 *n, u32 *cap, u32 id, size_t size)
{
    if (id >= *cap) {
        u32 more = *cap ? *cap * 2 : 64;
        while (more <= id && more)
            more *= 2;
        void *grown = more ? dh_pool_alloc(more * size) : NULL;
        if (!grown)
            return NULL;
        if (*n)
            memcpy(grown, items, *n * size);
        dh_pool_free(items, *cap * size);
        items = grown;
        *cap = more;
    }
    if (id >= *n)
        *n = id + 1;
    return items;
}

static struct dh_form_thread *thread_of(struct dh_form *f, u32 id)
{
    if (DH_UNLIKELY(id >= f->n_threads)) {
        struct dh_form_thread *grown =
            reserve(f->threads, &f->n_threads, &f->cap_threads, id, sizeof(*f->threads));
        if (!grown)
            return NULL;
        f->threads = grown;
    }
    return &f->threads[id];
}

static struct dh_form_lock *lock_of(struct dh_form *f, u32 id)
{
    if (DH_UNLIKELY(id >= f->n_locks)) {
        struct dh_form_lock *grown = reserve(f->locks, &f->n_locks, &f->cap_locks, id, sizeof(*f->locks));
        if (!grown)
            return NULL;
        f->locks = grown;
    }
    return &f->locks[id];
}

static void warn(struct dh_form *f, enum dh_form_warning w, u64 number)
{
    if (f->warnings[w]++ == 0 || number < f->first[w])
        f->first[w] = number;
}

static enum dh_form_error blame(struct dh_form *f, enum dh_form_error error, const struct dh_form_lock *l)
{
    f->other = l->holder ? l->holder - 1 : DH_FORM_NOBODY;
    f->since = l->since;
    return error;
}

static enum dh_form_error acquire(struct dh_form *f, const struct dh_event *e, u64 number)
{
    struct dh_form_lock *l = lock_of(f, e->target);
    if (!l)
        return DH_FORM_NO_MEMORY;
    if (l->holder == e->thread + 1 && e->mode == DH_EXCLUSIVE) {
        l->depth++;
        warn(f, DH_FORM_REENTERED, number);
        return DH_FORM_OK;
    }
    if (l->holder || (l->readers && e->mode == DH_EXCLUSIVE))
        return blame(f, DH_FORM_HELD, l);
    if (e->mode == DH_SHARED) {
        l->readers++;
    } else {
        l->holder = e->thread + 1;
        l->depth = 1;
    }
    l->since = number;
    return DH_FORM_OK;
}

static enum dh_form_error release(struct dh_form *f, const struct dh_event *e)
{
    struct dh_form_lock *l = lock_of(f, e->target);
    if (!l)
        return DH_FORM_NO_MEMORY;
    if (e->mode & DH_SHARED) {
        if (!l->readers)
            return blame(f, DH_FORM_NOT_HELD, l);
        l->readers--;
        return DH_FORM_OK;
    }
    if (l->holder != e->thread + 1)
        return blame(f, DH_FORM_NOT_HELD, l);
    if (--l->depth == 0)
        l->holder = 0;
    return DH_FORM_OK;
}

static enum dh_form_error fork_or_join(struct dh_form *f, const struct dh_event *e, u64 number)
{
    if (e->target == e->thread)
        return e->op == DH_OP_FORK ? DH_FORM_SELF_FORK : DH_FORM_SELF_JOIN;
    struct dh_form_thread *u = thread_of(f, e->target);
    if (!u)
        return DH_FORM_NO_MEMORY;
    if (!u->named)
        u->named = number + 1;
    if (e->op == DH_OP_JOIN) {
        u->joined = true;
        return DH_FORM_OK;
    }
    if (u->forked)
        warn(f, DH_FORM_FORKED_TWICE, number);
    u->forked = true;
    u->joined = false;
    return DH_FORM_OK;
}

enum dh_form_error dh_form_next(struct dh_form *f, const struct dh_event *e, u64 number)
{
    struct dh_form_thread *t = thread_of(f, e->thread);
    if (DH_UNLIKELY(!t))
        return DH_FORM_NO_MEMORY;
    if (DH_UNLIKELY(!t->first))
        t->first = number + 1;
    if (DH_UNLIKELY(t->joined))
        return DH_FORM_AFTER_JOIN;
    switch (e->op) {
    case DH_OP_ACQUIRE:
        return acquire(f, e, number);
    case DH_OP_RELEASE:
        return release(f, e);
    case DH_OP_FORK:
    case DH_OP_JOIN:
        return fork_or_join(f, e, number);
    default:
        return DH_FORM_OK;
    }
}

void dh_form_end(struct dh_form *f)
{
    for (u32 i = 0; i < f->n_threads; i++) {
        const struct dh_form_thread *t = &f->threads[i];
        if (t->first > 1 && !t->forked) /* the very first event is by the initial thread */
            warn(f, DH_FORM_NEVER_FORKED, t->first - 1);
        if (!t->first && t->named)
            warn(f, DH_FORM_NEVER_RAN, t->named - 1);
    }
    for (u32 i = 0; i < f->n_locks; i++) {
        if (f->locks[i].holder || f->locks[i].readers)
            warn(f, DH_FORM_HELD_AT_END, f->locks[i].since);
    }
}

const char *dh_form_warning_text(enum dh_form_warning w)
{
    static const char *const texts[] = {
        [DH_FORM_FORKED_TWICE] = "threads forked twice",
        [DH_FORM_NEVER_FORKED] = "threads that were never forked",
        [DH_FORM_NEVER_RAN] = "forked or joined threads without any event",
        [DH_FORM_REENTERED] = "locks acquired again by their holder",
        [DH_FORM_HELD_AT_END] = "locks still held at the end",
    };
    return texts[w];
}
