/*
 * trace_model.c - see trace_model.h. Two looks for each race (event/dht_look.h), whose results are put into
 * the structures of report/model.h, as runtime/report/report.c and report/record.c do for a running program.
 */
#include "cli/trace_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/dht_look.h"
#include "event/dht_stacks.h"

enum { DEPTH_MAX = 256, ANCESTORS = 16 }; /* as in records */
enum { MOVES = 8 };                       /* of an access's memory that are followed */

struct builder {
    struct dh_trace_in *in;
    struct dh_dht *r; /* that was examined */
    struct dh_model *model;
    struct dh_model_process *process;
};

/* ---- Parts ---- */

void dh_trace_model_place(struct dh_trace_in *in, const struct dh_dht *r, u64 addr,
                          const struct dh_model_module **ret_module, u64 *ret_offset)
{
    struct dh_dht_place p;
    bool known = dh_dht_place_of(r, addr, &p);
    *ret_module = known ? dh_trace_symbols_module(&in->symbols, &p) : NULL;
    *ret_offset = p.offset;
}

static void place(struct builder *b, u64 addr, const struct dh_model_module **ret_module, u64 *ret_offset)
{
    dh_trace_model_place(b->in, b->r, addr, ret_module, ret_offset);
}

static bool stack(struct builder *b, u32 ctx, u64 pc, struct dh_model_stack *ret)
{
    u64 pcs[DEPTH_MAX];
    bool folded;
    ret->n = dh_dht_stack(b->r, ctx, pc, pcs, DEPTH_MAX, &folded);
    ret->frames = dh_arena_array(b->model->arena, ret->n, sizeof(*ret->frames));
    for (size_t i = 0; i < ret->n; i++)
        place(b, pcs[i], &ret->frames[i].module, &ret->frames[i].offset);
    return folded;
}

/* With its nearest ancestors. */
static void thread(struct builder *b, u32 uid, int ancestors)
{
    const struct dh_dht_thread *facts = dh_dht_find_thread(b->r, uid);
    u64 key = (u64)uid + 1;
    if (!facts || dh_model_find_thread(b->process, key))
        return;
    struct dh_model_thread *t = dh_arena_alloc(b->model->arena, sizeof(*t));
    *t = (struct dh_model_thread){.uid = key,
                                  .parent = facts->parent,
                                  .tid = facts->tid,
                                  .name = dh_arena_strdup(b->model->arena, facts->name)};
    stack(b, facts->created_at, 0, &t->created_at);
    dh_map_put(&b->process->threads, &key, sizeof(key), t);
    if (facts->parent && ancestors > 0)
        thread(b, facts->parent - 1, ancestors - 1);
}

static void locks(struct builder *b, const struct dh_dht_look *look, struct dh_model_access *ret)
{
    ret->n_locks = look->n_held;
    ret->locks = dh_arena_array(b->model->arena, look->n_held, sizeof(*ret->locks));
    for (u32 i = 0; i < look->n_held; i++) { /* the one taken last comes first */
        const struct dh_dht_held *h = &look->held[look->n_held - 1 - i];
        struct dh_model_lock *l = &ret->locks[i];
        *l = (struct dh_model_lock){.addr = h->lock, .read_mode = h->shared};
        place(b, h->lock, &l->module, &l->offset);
        stack(b, h->ctx, h->pc, &l->acquired_at);
    }
}

static void access(struct builder *b, const struct dh_dht_look *look, struct dh_model_access *ret)
{
    *ret = (struct dh_model_access){.kind = look->kind & DH_FREE    ? DH_MODEL_FREE
                                            : look->kind & DH_WRITE ? DH_MODEL_WRITE
                                                                    : DH_MODEL_READ,
                                    .atomic = (look->kind & DH_ATOMIC) != 0,
                                    .range = (look->kind & DH_RANGE) != 0,
                                    .addr = look->start,
                                    .size = look->bytes,
                                    .thread = (u64)look->uid + 1};
    ret->stack_folded = stack(b, look->ctx, look->pc, &ret->stack);
    locks(b, look, ret);
    thread(b, look->uid, ANCESTORS);
}

/* The part of an earlier access that a running program would know of: its shadow has words of four bytes. */
static void narrow(const struct dh_dht_look *look, u64 at, struct dh_model_access *a)
{
    u64 word = at & ~3ull, lo = word > look->start ? word : look->start;
    u64 end = look->start + look->bytes, hi = word + 4 < end ? word + 4 : end;
    u64 whole = look->piece ? look->piece : look->bytes;
    bool known = whole && whole <= 16 && !(whole & (whole - 1)) && !a->range;
    if (known && whole > hi - lo) {
        a->addr = look->piece ? lo & ~(whole - 1) : look->start;
        a->size = whole;
    } else {
        a->addr = lo;
        a->size = hi - lo;
    }
}

static void location(struct builder *b, const struct dh_dht_spot *spot, bool freed,
                     struct dh_model_location *ret)
{
    static const enum dh_model_place places[] = {[DH_DHT_UNKNOWN] = DH_MODEL_UNKNOWN,
                                                 [DH_DHT_HEAP] = DH_MODEL_HEAP,
                                                 [DH_DHT_STACK] = DH_MODEL_STACK,
                                                 [DH_DHT_TLS] = DH_MODEL_TLS,
                                                 [DH_DHT_GLOBAL] = DH_MODEL_GLOBAL};
    *ret = (struct dh_model_location){.place = places[spot->kind],
                                      .start = spot->start,
                                      .size = spot->size,
                                      .offset = spot->offset,
                                      .thread = spot->owner,
                                      .freed = freed && spot->kind == DH_DHT_HEAP};
    if (spot->place.path)
        ret->module = dh_trace_symbols_module(&b->in->symbols, &spot->place);
    if (spot->kind == DH_DHT_HEAP)
        stack(b, spot->ctx, spot->pc, &ret->allocated_at);
    if (spot->frame.pc)
        stack(b, 0, spot->frame.pc, &ret->frame.pc);
    ret->frame.sp = spot->frame.sp;
    ret->frame.bp = spot->frame.bp;
    ret->frame.cfa = spot->frame.cfa;
    if (spot->owner)
        thread(b, spot->owner - 1, ANCESTORS);
}

/* ---- Races ---- */

/* The process as one detector saw it. */
static void process(struct builder *b, const struct dh_detector_ops *by)
{
    struct dh_dht_stats stats;
    struct dh_dht_place program;
    b->process = dh_model_find_process(b->model, by->name, strlen(by->name));
    if (b->process)
        return;
    dh_dht_stats(b->r, &stats);
    b->process = dh_model_begin_process(b->model, by->name, strlen(by->name));
    b->process->pid = stats.pid;
    b->process->detector = by->name;
    b->process->guarantee = dh_guarantee_name(by->guarantee);
    b->process->announced = b->process->ended = true;
    if (dh_dht_program(b->r, &program))
        b->process->exe = dh_trace_symbols_module(&b->in->symbols, &program)->path;
}

/* The first byte that both accesses have in common. Accesses of several variables race in each of them; that
 * is one race. Long ranges need not race in all of them: for these it is the variable's own address. */
static u64 shared_from(const struct dh_dht_look *now, const struct dh_dht_look *earlier)
{
    u64 at = now->start > earlier->start ? now->start : earlier->start;
    bool both = earlier->found && !now->piece && !earlier->piece && !((now->kind | earlier->kind) & DH_RANGE);
    return both && at < now->addr ? at : now->addr;
}

static struct dh_model_race *race(struct builder *b, const struct dh_trace_race *t,
                                  const struct dh_dht_look *now, const struct dh_dht_look *earlier)
{
    if (!now->found)
        return NULL;
    process(b, t->by);
    struct dh_model_race *m = dh_arena_alloc(b->model->arena, sizeof(*m));
    *m = (struct dh_model_race){.process = b->process};
    access(b, now, &m->accesses[0]);
    if (now->piece) {
        m->accesses[0].addr = now->addr & ~((u64)now->piece - 1);
        m->accesses[0].size = now->piece;
    }
    u64 at = shared_from(now, earlier);
    if (earlier->found) {
        access(b, earlier, &m->accesses[1]);
        narrow(earlier, at, &m->accesses[1]);
    } else { /* the detector does not remember it */
        m->accesses[1] = (struct dh_model_access){
            .kind = t->race->earlier.write ? DH_MODEL_WRITE : DH_MODEL_READ, .addr = now->addr, .size = 1};
    }
    location(b, &now->spot, (now->kind | earlier->kind) & DH_FREE, &m->location);
    m->location.offset += m->location.place == DH_MODEL_STACK ? now->addr - at : at - now->addr;
    return m;
}

static void ask(struct dh_trace_in *in, const struct dh_race *race, struct dh_dht_look *now,
                struct dh_dht_look *earlier)
{
    struct dh_dht_place p = {0};
    u32 size;
    *now = (struct dh_dht_look){.event = race->now.event};
    dh_dht_variable(in->dht, race->cell, &now->addr, &size);
    *earlier = (struct dh_dht_look){.event = race->earlier.event,
                                    .before = race->now.event,
                                    .thread = race->earlier.thread,
                                    .cell = race->cell,
                                    .write = race->earlier.write};
    if (race->earlier.thread == DH_UNKNOWN)
        earlier->before = 0;
    else if (dh_dht_place(in->dht, race->earlier.site, &p))
        earlier->at_pc = p.pc;
}

/* The recording, opened again. */
static int open_again(const struct dh_trace_in *in, const struct dh_dht_view *view, struct dh_dht **ret)
{
    int rc = dh_dht_open(ret, in->fd);
    if (!rc)
        dh_dht_set_view(*ret, view);
    return rc;
}

/* Accesses to memory that was moved are looked for at its earlier address. */
static int follow_moves(const struct dh_trace_in *in, const struct dh_dht_view *view,
                        struct dh_dht_look *looks, size_t n)
{
    struct dh_dht_look *moved = dh_util_alloc(n * sizeof(*moved) + 1);
    size_t *of = dh_util_alloc(n * sizeof(*of) + 1);
    int rc = 0;
    for (u32 round = 0; !rc && round < MOVES; round++) {
        struct dh_dht *r = NULL;
        size_t m = 0;
        for (size_t i = 0; i < n; i++) {
            if (!looks[i].moved)
                continue;
            of[m] = i;
            moved[m++] = looks[i];
        }
        if (m == 0)
            break;
        rc = open_again(in, view, &r);
        if (!rc)
            rc = dh_dht_look(r, moved, m);
        for (size_t i = 0; i < m; i++)
            looks[of[i]] = moved[i];
        dh_dht_close(r);
    }
    free(moved);
    free(of);
    return rc;
}

int dh_trace_model(struct dh_trace_in *in, const struct dh_dht_view *view, struct dh_model *model,
                   struct dh_trace_race *races, size_t n)
{
    struct builder b = {.in = in, .model = model};
    struct dh_dht_look *looks = dh_util_alloc(2 * n * sizeof(*looks));
    for (size_t i = 0; i < n; i++)
        ask(in, races[i].race, &looks[2 * i], &looks[2 * i + 1]);
    int rc = open_again(in, view, &b.r);
    if (!rc)
        rc = dh_dht_look(b.r, looks, 2 * n);
    if (!rc)
        rc = follow_moves(in, view, looks, 2 * n);
    for (size_t i = 0; i < n; i++)
        races[i].ret = b.r ? race(&b, &races[i], &looks[2 * i], &looks[2 * i + 1]) : NULL;
    dh_dht_look_done(looks, 2 * n);
    dh_dht_close(b.r);
    free(looks);
    return rc;
}
