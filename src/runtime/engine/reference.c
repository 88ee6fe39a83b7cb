/*
 * reference.c - see reference.h.
 */
#include "runtime/engine/reference.h"

#include "runtime/abi/abi.h"

static u32 own_plane(const struct dh_reference_access *a)
{
    return a->kind & DH_WRITE ? DH_NTH_WRITE : a->class;
}

static bool is_atomic(u32 kind)
{
    return (kind & DH_ATOMIC) != 0;
}

static bool is_plain_write(u32 kind)
{
    return (kind & DH_WRITE) && !is_atomic(kind);
}

static bool happened_before(const struct dh_reference_access *a, dh_id_t id)
{
    return dh_vclock_get(a->vc, dh_id_slot(id)) >= dh_id_clock(id);
}

static bool is_reported(const struct dh_reference_access *a, dh_id_t id)
{
    for (u32 i = 0; i < a->n_reported; i++)
        if (dh_id_eq(a->reported[i], id))
            return true;
    return false;
}

/* Is `id` of this thread and epoch, and plain, atomic or a free like `kind`, so that one can represent the
 * other? */
static bool is_alike(dh_id_t id, dh_slot_t slot, u32 clock, u32 kind)
{
    return dh_slot_eq(dh_id_slot(id), slot) && dh_id_clock(id) == clock &&
           ((dh_id_kind(id) ^ kind) & (DH_ATOMIC | DH_FREE)) == 0;
}

static bool is_mine(const struct dh_reference_access *a, dh_id_t id)
{
    return is_alike(id, a->slot, dh_vclock_get(a->vc, a->slot), a->kind);
}

static bool is_at(const struct dh_reference_entry *e, u32 plane, u32 byte)
{
    return e->plane == plane && dh_mask_has(e->mask, byte);
}

static bool has_mine(const struct dh_reference_access *a, const struct dh_reference_word *w, u32 plane,
                     u32 byte)
{
    for (u32 i = 0; i < w->n; i++)
        if (is_at(&w->e[i], plane, byte) && is_mine(a, w->e[i].id))
            return true;
    return false;
}

/* Is `id` there, or an access that represents it? */
static bool has(const struct dh_reference_word *w, u32 plane, u32 byte, dh_id_t id)
{
    for (u32 i = 0; i < w->n; i++)
        if (is_at(&w->e[i], plane, byte) &&
            is_alike(w->e[i].id, dh_id_slot(id), dh_id_clock(id), dh_id_kind(id)))
            return true;
    return false;
}

/* Does a, on a byte that both touch, race with e? A write in a read plane stands for a read; the write plane
 * has it as well, or a later one that was compared with it. */
static bool races(const struct dh_reference_access *a, const struct dh_reference_entry *e)
{
    bool conflict = e->plane == DH_NTH_WRITE || ((a->kind & DH_WRITE) && !(dh_id_kind(e->id) & DH_WRITE));
    return conflict && !happened_before(a, e->id) && !(is_atomic(a->kind) && is_atomic(dh_id_kind(e->id)));
}

/* Has the thread of read e written the byte since? Whatever races with the read races with that write, which
 * replaces the read once it is recorded in both planes. */
static bool is_overwritten(const struct dh_reference_entry *e, const struct dh_reference_word *w, u32 byte)
{
    for (u32 i = 0; e->plane != DH_NTH_WRITE && i < w->n; i++)
        if (is_at(&w->e[i], DH_NTH_WRITE, byte) && is_plain_write(dh_id_kind(w->e[i].id)) &&
            dh_slot_eq(dh_id_slot(w->e[i].id), dh_id_slot(e->id)) &&
            dh_id_clock(w->e[i].id) >= dh_id_clock(e->id))
            return true;
    return false;
}

/* May a drop e from a byte that it touches? */
static bool replaces(const struct dh_reference_access *a, const struct dh_reference_entry *e)
{
    const bool own = e->plane == own_plane(a), before = happened_before(a, e->id);
    if (is_atomic(a->kind))
        return own && is_atomic(dh_id_kind(e->id)) && before;
    if (!(a->kind & DH_WRITE))
        return own && before;
    return own || e->plane == a->class || before || a->n_reported > 0;
}

/* May e be dropped from a byte that a does not touch? Yes in a's read plane if a write stands for it: e
 * itself, or one of this epoch that e happened before or was compared with. */
static bool is_superfluous(const struct dh_reference_access *a, const struct dh_reference_entry *e,
                           const struct dh_reference_word *after, u32 byte)
{
    if (is_atomic(a->kind) || e->plane != a->class)
        return false;
    return (is_plain_write(dh_id_kind(e->id)) && has(after, DH_NTH_WRITE, byte, e->id)) ||
           (is_plain_write(a->kind) && has_mine(a, after, DH_NTH_WRITE, byte));
}

/* May a have been added to this byte of this plane? */
static bool may_be(const struct dh_reference_access *a, const struct dh_reference_word *after, u32 plane,
                   u32 byte)
{
    if (plane == own_plane(a))
        return dh_mask_has(a->mask, byte);
    return is_plain_write(a->kind) && plane == a->class && has_mine(a, after, DH_NTH_WRITE, byte);
}

static struct dh_reference_fault judge_byte(const struct dh_reference_access *a,
                                            const struct dh_reference_word *before,
                                            const struct dh_reference_word *after, u32 byte)
{
    const bool touched = dh_mask_has(a->mask, byte), known = has_mine(a, before, own_plane(a), byte);
    for (u32 i = 0; touched && (!known || a->recorded) && i < before->n; i++) {
        const struct dh_reference_entry *e = &before->e[i];
        if (dh_mask_has(e->mask, byte) && races(a, e) && !is_reported(a, e->id) &&
            !is_overwritten(e, before, byte))
            return (struct dh_reference_fault){DH_REFERENCE_UNREPORTED, e->plane, byte, e->id};
    }
    if (a->recorded)
        return (struct dh_reference_fault){0};
    if (touched && !has_mine(a, after, own_plane(a), byte))
        return (struct dh_reference_fault){DH_REFERENCE_ABSENT, own_plane(a), byte, DH_ID_NONE};
    for (u32 i = 0; i < after->n; i++) {
        const struct dh_reference_entry *e = &after->e[i];
        if (dh_mask_has(e->mask, byte) && is_mine(a, e->id) && !has_mine(a, before, e->plane, byte) &&
            !may_be(a, after, e->plane, byte))
            return (struct dh_reference_fault){DH_REFERENCE_EXTRA, e->plane, byte, e->id};
    }
    for (u32 i = 0; i < before->n; i++) {
        const struct dh_reference_entry *e = &before->e[i];
        if (dh_mask_has(e->mask, byte) && !has(after, e->plane, byte, e->id) &&
            !(touched ? replaces(a, e) : is_superfluous(a, e, after, byte)))
            return (struct dh_reference_fault){DH_REFERENCE_LOST, e->plane, byte, e->id};
    }
    return (struct dh_reference_fault){0};
}

struct dh_reference_fault dh_reference_judge(const struct dh_reference_access *a,
                                             const struct dh_reference_word *before,
                                             const struct dh_reference_word *after)
{
    struct dh_reference_fault f = {0};
    for (u32 byte = 0; byte < DH_MASK_BITS && f.verdict == DH_REFERENCE_RIGHT; byte++)
        f = judge_byte(a, before, after, byte);
    return f;
}

static bool names(const struct dh_reference_word *w, dh_id_t id)
{
    for (u32 i = 0; i < w->n; i++)
        if (dh_id_eq(w->e[i].id, id))
            return true;
    return false;
}

/* Was e added since? */
static bool is_new(const struct dh_reference_entry *e, const struct dh_reference_word *before)
{
    bool known = names(before, e->id);
    for (dh_mask_t rest = e->mask; !dh_mask_is_none(rest) && known; rest = dh_mask_rest(rest))
        known = has(before, e->plane, dh_mask_first(rest), e->id);
    return !known;
}

bool dh_reference_is_disturbed(const struct dh_reference_access *a, const struct dh_reference_fault *fault,
                               const struct dh_reference_word *before, const struct dh_reference_word *after)
{
    for (u32 i = 0; i < after->n; i++) {
        const struct dh_reference_entry *e = &after->e[i];
        if (dh_slot_eq(dh_id_slot(e->id), a->slot))
            continue;
        bool again = fault->verdict != DH_REFERENCE_UNREPORTED && !dh_id_eq(e->id, fault->id) &&
                     (e->plane == fault->plane || e->plane == DH_NTH_WRITE) && !happened_before(a, e->id);
        if (again || is_new(e, before))
            return true;
    }
    return false;
}

bool dh_reference_holds(const struct dh_reference_access *a, const struct dh_reference_word *w)
{
    for (u32 byte = 0; byte < DH_MASK_BITS; byte++)
        if (dh_mask_has(a->mask, byte) && !has_mine(a, w, own_plane(a), byte))
            return false;
    return true;
}
