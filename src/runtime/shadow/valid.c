/*
 * valid.c - see valid.h.
 */
#include "runtime/shadow/valid.h"

#include "runtime/shadow/history.h"
#include "runtime/shadow/ids.h"
#include "runtime/shadow/split.h"

bool dh_valid_id(dh_id_t id)
{
    if (dh_id_eq(id, DH_ID_READS))
        return true;
    if (!dh_ids_is_taken(id) || !dh_id_chunks[dh_id_raw(id) >> DH_ID_CHUNK_SHIFT])
        return false;
    const struct dh_id_block *b = dh_id_block(id);
    u32 clock = dh_id_clock(id);
    return clock && dh_slot_raw(b->slot) < DH_SLOTS_MAX && clock <= b->youngest &&
           !dh_uid_is_none(dh_id_first(id)->uid);
}

bool dh_valid_entries(const dh_cell_t *entries, u32 n)
{
    for (u32 i = 0; i < n; i++)
        if (!dh_cell_is_simple(entries[i]) || dh_mask_is_none(dh_cell_mask(entries[i])) ||
            !dh_valid_id(dh_cell_id(entries[i])) ||
            (i > 0 && !dh_id_less(dh_cell_id(entries[i - 1]), dh_cell_id(entries[i]))))
            return false;
    return true;
}

/* In the write plane, a write; in a read plane, what may stand for a read. */
static bool belongs(dh_id_t id, enum dh_plane plane)
{
    u32 kind = dh_id_kind(id);
    if (dh_id_eq(id, DH_ID_READS))
        return plane == DH_PLANE_WRITE;
    if (plane == DH_PLANE_WRITE)
        return kind & DH_WRITE;
    return (kind & (DH_WRITE | DH_ATOMIC)) != (DH_WRITE | DH_ATOMIC);
}

/* Its entries may change while we look, each only by the thread of its slot. */
static bool by_slot_valid(const struct dh_history *h, enum dh_plane plane)
{
    for (u32 i = h->first; i < h->n; i += h->step) {
        dh_cell_t e = dh_cell_load(&h->cells[i]);
        dh_id_t id = dh_cell_id(e);
        if (!dh_cell_is_none(e) &&
            (!dh_cell_is_simple(e) || dh_mask_is_none(dh_cell_mask(e)) || !dh_valid_id(id) ||
             !belongs(id, plane) || dh_history_entry(h, dh_id_slot(id)) != &h->cells[i]))
            return false;
    }
    return h->by_slot <= DH_BY_SLOT_ATOMIC;
}

static bool history_valid(const struct dh_history *h, enum dh_plane plane)
{
    if (h->by_slot)
        return by_slot_valid(h, plane);
    if (h->n < 2 || h->first != 0 || h->step != 1 || !dh_valid_entries(h->cells, h->n))
        return false;
    for (u32 i = 0; i < h->n; i++)
        if (!belongs(dh_cell_id(h->cells[i]), plane))
            return false;
    return true;
}

bool dh_valid_byte(dh_cell_t cell)
{
    if (dh_cell_is_none(cell))
        return true;
    if (dh_cell_is_simple(cell))
        return dh_mask_is_full(dh_cell_mask(cell)) && dh_valid_id(dh_cell_id(cell));
    if (dh_cell_is_split(cell))
        return false;
    const struct dh_history *h = dh_history_get(cell);
    bool full = !h->by_slot && dh_valid_entries(h->cells, h->n);
    for (u32 i = 0; i < h->n && full; i++)
        full = dh_mask_is_full(dh_cell_mask(h->cells[i]));
    return full;
}

bool dh_valid_cell(dh_cell_t cell, enum dh_plane plane)
{
    if (dh_cell_is_none(cell))
        return true;
    if (dh_cell_is_split(cell)) {
        u32 chunk = dh_cell_split_index(cell) >> DH_SPLIT_CHUNK_SHIFT;
        return chunk < DH_SPLIT_CHUNKS && __atomic_load_n(&dh_split_chunks[chunk], __ATOMIC_ACQUIRE);
    }
    if (dh_cell_is_history(cell))
        return history_valid(dh_history_get(cell), plane);
    return !dh_mask_is_none(dh_cell_mask(cell)) && dh_valid_id(dh_cell_id(cell)) &&
           belongs(dh_cell_id(cell), plane);
}

bool dh_valid_bytes(const struct dh_bytes *bytes, enum dh_plane plane)
{
    for (u32 k = 0; k < 4; k++)
        if (!dh_valid_byte(bytes->cell[k]) || !dh_valid_cell(bytes->cell[k], plane))
            return false;
    return true;
}

static bool is_known(dh_id_t id, const struct dh_vclock *vc)
{
    return dh_vclock_get(vc, dh_id_slot(id)) >= dh_id_clock(id);
}

bool dh_valid_own(dh_cell_t cell, const struct dh_vclock *vc)
{
    if (dh_cell_is_split(cell) || dh_cell_is_none(cell))
        return true;
    if (dh_cell_is_simple(cell))
        return is_known(dh_cell_id(cell), vc);
    const struct dh_history *h = dh_history_get(cell);
    for (u32 i = h->first; i < h->n; i += h->step) {
        dh_cell_t e = dh_cell_load(&h->cells[i]);
        if (!dh_cell_is_none(e) && !is_known(dh_cell_id(e), vc))
            return false;
    }
    return true;
}
