/*
 * dump.c - prints what the engine knows about an address, for debugging deadheat: `call dh_debug_dump(p)` in
 * gdb.
 *
 * It may be called wherever a thread was stopped, even inside the runtime with locks held: it takes no locks,
 * allocates nothing, writes by system call, and validates every number before using it.
 */
#include "base/fmt.h"
#include "base/sys.h"
#include "runtime/engine/engine.h"
#include "runtime/shadow/region.h"
#include "runtime/threads/context.h"
#include "runtime/threads/lockset.h"

enum { LINE = 512, DEEPEST = 1 << 16, MOST_LOCKS = 8 };

static void end_line(struct dh_fmt *f)
{
    dh_fmt_char(f, '\n');
    dh_sys_write_all(2, f->buf, f->len);
    f->len = 0;
    f->buf[0] = 0;
    f->overflow = false;
}

static void number(struct dh_fmt *f, const char *before, u64 n)
{
    dh_fmt_str(f, before);
    dh_fmt_u64(f, n);
}

static void say_bytes(struct dh_fmt *f, dh_mask_t mask)
{
    dh_fmt_str(f, " bytes ");
    for (u32 k = 0; k < 4; k++)
        dh_fmt_char(f, dh_mask_has(mask, k) ? (char)('0' + k) : '-');
}

static void say_kind(struct dh_fmt *f, const struct dh_access_rec *r)
{
    dh_fmt_str(f, r->kind & DH_ATOMIC ? ", atomic " : ", ");
    dh_fmt_str(f, r->kind & DH_FREE ? "free" : r->kind & DH_WRITE ? "write" : "read");
    if (r->size)
        number(f, " of ", 1u << (r->size - 1));
    if (r->kind & DH_RANGE)
        dh_fmt_str(f, " in a range");
}

static void say_context(struct dh_fmt *f, dh_ctx_t ctx)
{
    u32 depth = 0;
    number(f, ", context ", dh_ctx_raw(ctx));
    if (dh_ctx_is_none(ctx))
        return;
    for (dh_ctx_t n = ctx; !dh_ctx_is_none(n) && depth < DEEPEST; n = dh_ctx_node(n)->parent)
        depth++;
    number(f, " (depth ", depth);
    dh_fmt_str(f, ", at ");
    dh_fmt_hex(f, dh_ctx_node(ctx)->pc);
    dh_fmt_char(f, ')');
}

static void say_locks(struct dh_fmt *f, dh_lockset_t set)
{
    if (dh_lockset_is_unknown(set)) {
        dh_fmt_str(f, ", locks unknown");
        return;
    }
    dh_fmt_str(f, dh_lockset_is_empty(set) ? ", no lock" : ", locks");
    for (u32 i = 0; dh_lockset_is_listed(set) && i < MOST_LOCKS; i++, set = dh_lockset_node(set)->parent) {
        dh_fmt_char(f, ' ');
        dh_fmt_hex(f, dh_lockset_node(set)->lock);
    }
}

/* One access: a cell, or an entry of a history. */
static void say_access(struct dh_fmt *f, const struct dh_thread *t, dh_cell_t e)
{
    dh_id_t id = dh_cell_id(e);
    say_bytes(f, dh_cell_mask(e));
    number(f, ", id ", dh_id_raw(id));
    if (!dh_ids_is_taken(id) || !dh_id_chunks[dh_id_raw(id) >> DH_ID_CHUNK_SHIFT]) {
        dh_fmt_str(f, ", which is free: INVALID");
        end_line(f);
        return;
    }
    if (dh_id_eq(id, DH_ID_READS)) {
        dh_fmt_str(f, ": no write, but reads (sampling)");
        end_line(f);
        return;
    }
    struct dh_access_rec r = dh_id_get(id);
    number(f, ": T", dh_uid_raw(r.uid));
    number(f, ", slot ", dh_slot_raw(r.slot));
    number(f, ", clock ", r.clock);
    say_kind(f, &r);
    say_context(f, r.ctx);
    say_locks(f, r.lockset);
    if (t)
        dh_fmt_str(f, dh_vclock_get(&t->vc, r.slot) >= r.clock ? ", happened before" : ", not ordered");
    end_line(f);
}

static void say_history(struct dh_fmt *f, const struct dh_thread *t, dh_cell_t cell, const char *indent)
{
    static const char *const kinds[] = {"", ", a place for each slot, plain",
                                        ", a place for each slot, mixed", ", a place for each slot, atomic"};
    u32 i = dh_cell_history_index(cell);
    number(f, " history ", i);
    if (!i || !dh_history_chunks[i >> DH_HISTORY_CHUNK_SHIFT]) {
        dh_fmt_str(f, ", which does not exist: INVALID");
        end_line(f);
        return;
    }
    const struct dh_history *h = dh_history_get(cell);
    number(f, ", age ", h->age);
    dh_fmt_str(f, kinds[h->by_slot % 4]);
    dh_fmt_str(f, h->closed ? ", closed" : "");
    end_line(f);
    for (u32 k = h->first; h->step && k < h->n; k += h->step) {
        dh_cell_t e = dh_cell_load(&h->cells[k]);
        if (dh_cell_is_none(e))
            continue;
        dh_fmt_str(f, indent);
        say_access(f, t, e);
    }
}

/* A cell that is not split. */
static void say_plain(struct dh_fmt *f, const struct dh_thread *t, dh_cell_t cell, const char *indent)
{
    if (dh_cell_is_none(cell)) {
        dh_fmt_str(f, " nothing");
        end_line(f);
    } else if (dh_cell_is_history(cell)) {
        say_history(f, t, cell, indent);
    } else {
        say_access(f, t, cell);
    }
}

static void say_cell(struct dh_fmt *f, const struct dh_thread *t, dh_cell_t cell)
{
    u32 i = dh_cell_split_index(cell);
    if (!dh_cell_is_split(cell)) {
        say_plain(f, t, cell, "      ");
        return;
    }
    number(f, " split, record ", i);
    if (i >> DH_SPLIT_CHUNK_SHIFT >= DH_SPLIT_CHUNKS || !dh_split_chunks[i >> DH_SPLIT_CHUNK_SHIFT]) {
        dh_fmt_str(f, ", which does not exist: INVALID");
        end_line(f);
        return;
    }
    const u64 *b = dh_split_record(i);
    number(f, ", use ", b[0] >> 32);
    end_line(f);
    for (u32 k = 0; k < 4; k++) {
        number(f, "    byte ", k);
        dh_fmt_char(f, ':');
        say_plain(f, t, dh_cell_from((u32)b[k]), "        ");
    }
}

static void say_word(struct dh_fmt *f, const struct dh_thread *t, uptr word)
{
    dh_fmt_str(f, "deadheat: ");
    dh_fmt_hex(f, word);
    end_line(f);
    u32 marks = dh_touched_mark(word);
    if (!marks) {
        dh_fmt_str(f, "  nothing was recorded near by");
        end_line(f);
    }
    for (u32 plane = 0; plane < DH_PLANES; plane++) {
        if (!dh_touched_plane(marks, plane))
            continue;
        dh_cell_t cell = dh_cell_load(dh_shadow_nth(word, plane));
        if (plane == DH_NTH_WRITE)
            dh_fmt_str(f, "  write  ");
        else
            number(f, "  read ", plane);
        dh_fmt_char(f, ' ');
        dh_fmt_hex(f, dh_cell_raw(cell));
        dh_fmt_char(f, ':');
        say_cell(f, t, cell);
    }
}

static void say_thread(struct dh_fmt *f, const struct dh_thread *t)
{
    if (!t)
        return;
    number(f, "deadheat: as T", dh_uid_raw(t->uid));
    number(f, " sees it: slot ", dh_slot_raw(t->slot));
    number(f, ", clock ", dh_vclock_get(&t->vc, t->slot));
    number(f, ", ids of this epoch from ", dh_id_raw(dh_step_epoch()));
    number(f, " on, next ", dh_id_raw(t->ids.plain.next));
    number(f, ", end ", dh_id_raw(t->ids.plain.end));
    end_line(f);
}

/*
 * Print all planes of the 8 bytes around addr, decoded, on standard error, and whether each access happened
 * before the calling thread. Not declared in any header: use `extern void dh_debug_dump(const void *);`.
 */
__attribute__((used, retain)) void dh_debug_dump(const volatile void *addr);
void dh_debug_dump(const volatile void *addr)
{
    struct dh_thread *t = __dh_hot.self;
    u32 in_rt = t ? t->in_rt : 0;
    char buf[LINE];
    struct dh_fmt f;
    dh_fmt_init(&f, buf, sizeof(buf));
    if (!dh_region_has((uptr)addr)) {
        dh_fmt_str(&f, "deadheat: ");
        dh_fmt_hex(&f, (uptr)addr);
        dh_fmt_str(&f, " has no shadow");
        end_line(&f);
        return;
    }
    if (t) /* pretend to be in the runtime, so that no collection frees what is shown; entering it normally
            * has side effects */
        t->in_rt = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    say_thread(&f, t);
    uptr word = (uptr)addr & ~(uptr)7;
    say_word(&f, t, word);
    say_word(&f, t, word + 4);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (t)
        t->in_rt = in_rt;
}
