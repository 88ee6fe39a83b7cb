/*
 * parts.c - see parts.h.
 */
#include "runtime/engine/parts.h"

#include "runtime/engine/own.h"
#include "runtime/shadow/collect.h"

enum { MOST = 1024 }; /* accesses between two times that all is recorded */

static void record(struct dh_thread *t, struct dh_part *e, bool write)
{
    const struct dh_part part = *e;
    DH_ASSERT(t->in_rt && t == __dh_hot.self && part.word && part.mask);
    e->word = 0;
    if (dh_pending_on && (dh_own_alone(t, part.word, false, part.mask, write, part.id) ||
                          (write ? part.mask == DH_MASK_FULL && dh_own_write(t, part.word, false, part.id)
                                 : dh_own_read(t, part.word, false, part.mask, part.id))))
        return;
    struct dh_access_now a = {
        .t = t,
        .addr = part.word + (u32)__builtin_ctz(part.mask),
        .size = (u32)__builtin_popcount(part.mask),
        .kind = write ? DH_WRITE : DH_READ,
        .id = part.id,
    };
    dh_quick_part(&a, part.word, part.mask);
}

void dh_parts_add(struct dh_thread *t, uptr word, u32 mask, bool write, u32 id)
{
    struct dh_part *e = &dh_parts_of(t, word)[write];
    DH_ASSERT(t->in_rt && dh_pending_on && mask && mask < DH_MASK_FULL && !(word & 3));
    if (e->word == word) {
        bool had = !(mask & ~e->mask);
        e->mask |= mask;
        e->id = id;
        if (had || e->mask == DH_MASK_FULL)
            record(t, e, write);
    } else {
        if (e->word)
            record(t, e, write);
        *e = (struct dh_part){.word = word, .id = id, .mask = mask};
    }
    if (++t->parts_n > MOST)
        dh_parts_flush_now(t);
}

void dh_parts_flush_now(struct dh_thread *t)
{
    t->parts_n = 0;
    for (u32 i = 0; i < DH_PARTS; i++)
        for (u32 write = 0; write < 2; write++)
            if (t->parts[i][write].word)
                record(t, &t->parts[i][write], write);
}
