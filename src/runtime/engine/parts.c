/*
 * parts.c - see parts.h.
 */
#include "runtime/engine/parts.h"

#include "runtime/engine/own.h"
#include "runtime/engine/recheck.h"

enum { MOST = 1024 }; /* accesses until everything is recorded */

static void record(struct dh_thread *t, struct dh_part *e, bool write)
{
    const struct dh_part part = *e;
    const dh_mask_t mask = dh_parts_mask(&part);
    DH_ASSERT(t->in_rt && t == __dh_hot.self && part.word && !dh_mask_is_none(mask));
    e->word = 0;
    struct dh_recheck *r = dh_recheck_word(t, write ? DH_WRITE : DH_READ, part.word, false, mask);
    if (dh_pending_may(t) && (dh_own_alone(t, part.word, false, mask, write, part.id) ||
                              (write ? dh_mask_is_full(mask) && dh_own_write(t, part.word, false, part.id)
                                     : dh_own_read(t, part.word, false, mask, part.id)))) {
        dh_recheck_end(r);
        return;
    }
    struct dh_access_now a = {
        .t = t,
        .addr = part.word + dh_mask_first(mask),
        .size = dh_mask_count(mask),
        .kind = write ? DH_WRITE : DH_READ,
        .id = part.id,
    };
    dh_quick_part(&a, part.word, mask);
    dh_recheck_end(r);
}

void dh_parts_add(struct dh_thread *t, uptr word, dh_mask_t mask, bool write, dh_id_t id)
{
    struct dh_part *e = &dh_parts_of(t, word)[write];
    DH_ASSERT(t->in_rt && !dh_mask_is_none(mask) && !dh_mask_is_full(mask) && !(word & 3));
    /* A slot holds one access, unless the thread's reports need not be exact. */
    if (e->word == word && (dh_id_eq(e->id, id) || dh_split_blurs(t))) {
        const dh_mask_t was = dh_parts_mask(e), now = dh_mask_or(was, mask);
        e->mask = (u16)dh_mask_raw(now);
        e->id = id;
        if (dh_mask_covers(was, mask) || dh_mask_is_full(now))
            record(t, e, write);
    } else {
        if (e->word)
            record(t, e, write);
        *e = (struct dh_part){.word = word, .id = id, .mask = (u16)dh_mask_raw(mask)};
    }
    if (++t->parts.n > MOST)
        dh_parts_flush_now(t);
}

void dh_parts_flush_now(struct dh_thread *t)
{
    t->parts.n = 0;
    for (u32 i = 0; i < DH_PARTS; i++)
        for (u32 write = 0; write < 2; write++)
            if (t->parts.words[i][write].word)
                record(t, &t->parts.words[i][write], write);
}
