/*
 * loops.c - one check before a loop in place of one in each iteration.
 *
 * For accesses of an innermost loop in which nothing can synchronise, unwind or fail to return, that
 * happen in every iteration:
 *   - if the address stays, one ordinary check before the loop;
 *   - if it moves by a constant step, and the accesses that move together leave no gap between one
 *     iteration and the next, one range check of exactly the bytes that the loop will touch;
 *   - if there are gaps, one strided check for each stretch of bytes that an iteration touches.
 * Sound and precise for the same reason as windows (sites.c): all iterations lie between the same two
 * synchronisation operations of the thread, and the number of iterations is known on entry. The idea of
 * checking array ranges once is BigFoot's.
 *
 * Such a check is a call, so short loops keep the checks of their iterations: which of the two happens is
 * decided before the loop, by the number of bytes or iterations, and remembered in a bit.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"
#include "ir/whole/whole.h"

enum {
    LONG_ENOUGH = 64, /* bytes from which a call pays, */
    PARTS_ENOUGH = 8, /* where words are accessed in parts, which hardly ever hit the inlined check */
    MANY_ENOUGH = 16, /* iterations, where there are gaps; more than MORE_MAX */
    MORE_MAX = 4,     /* steps by which accesses to the same stretch of different elements are apart */
    MEMBERS_MAX = 32, /* accesses of one range */
};

struct dh_ir_range {
    const void *loop;
    bool write;
    long long step; /* bytes by which the address moves in each iteration */
    struct dh_ir_site *members[MEMBERS_MAX];
    long long at[MEMBERS_MAX]; /* where each member begins, relative to the first one's address */
    unsigned member_count;
    long long low, high; /* what one iteration touches, relative to the first member's address */
    bool strided;        /* there are gaps between the iterations */
    unsigned per, more;  /* strided: elements in one iteration, and so many more in all */

    LLVMValueRef place; /* the checks go before this */
    LLVMValueRef start; /* the first member's address in the first iteration */
    LLVMValueRef count; /* iterations; NULL: irrelevant, the address stays */
    LLVMValueRef brief; /* once emitted: the bit "a short loop"; NULL: known to be long */
};

/* ---- Planning ------------------------------------------------------------------------------------ */

struct planner {
    struct dh_shim_loops *loops;
    struct dh_ir_ranges *out;
    const void **noisy; /* loops in which a window ends */
    size_t noisy_count;
};

static bool is_noisy(const struct planner *p, const void *loop)
{
    for (size_t i = 0; i < p->noisy_count; i++)
        if (p->noisy[i] == loop)
            return true;
    return false;
}

static void find_noisy(struct planner *p, const struct dh_ir_sites *sites)
{
    p->noisy = calloc(sites->break_count + 1, sizeof(*p->noisy));
    for (size_t i = 0; i < sites->break_count; i++) {
        const void *loop = dh_shim_loops_at(p->loops, sites->breaks[i]);
        if (loop && !is_noisy(p, loop))
            p->noisy[p->noisy_count++] = loop;
    }
}

static struct dh_ir_range *range_new(struct planner *p, const void *loop, bool write, long long step)
{
    struct dh_ir_ranges *out = p->out;
    if (out->count == out->capacity) {
        out->capacity = out->capacity ? out->capacity * 2 : 8;
        out->at = realloc(out->at, out->capacity * sizeof(*out->at));
    }
    struct dh_ir_range *r = calloc(1, sizeof(*r));
    r->loop = loop;
    r->write = write;
    r->step = step;
    return out->at[out->count++] = r;
}

/* Accesses of one stretch begin close to each other: interleaved parts of a vector within one step,
 * neighbours of a stencil not much further. Others (rows of a matrix) are stretches of their own. */
static bool is_near(long long distance, long long step)
{
    return llabs(distance) <= 2 * llabs(step);
}

/* Puts a site into the range of those that move with it and stand on the same line, which is the line that a
 * report will show; or into a new one. */
static void assign(struct planner *p, struct dh_ir_site *site)
{
    const void *loop = dh_shim_loops_at(p->loops, site->inst);
    long long step, distance = 0;
    if (!loop || is_noisy(p, loop) || !dh_shim_loops_stride(p->loops, loop, site->inst, site->ptr, &step))
        return;
    bool write = site->kind == DH_SITE_WRITE;
    struct dh_ir_range *found = NULL;
    for (size_t i = 0; i < p->out->count && !found && step != 0; i++) {
        struct dh_ir_range *r = p->out->at[i];
        if (r->loop == loop && r->write == write && r->step == step && r->member_count < MEMBERS_MAX &&
            dh_shim_same_line(r->members[0]->inst, site->inst) &&
            dh_shim_loops_distance(p->loops, r->members[0]->ptr, site->ptr, &distance) &&
            is_near(distance, step))
            found = r;
    }
    if (!found) {
        found = range_new(p, loop, write, step);
        distance = 0;
    }
    found->members[found->member_count] = site;
    found->at[found->member_count++] = distance + site->shift;
    site->range = found;
}

/* Whether the members together touch one stretch without gaps, at least as long as the step. */
static bool is_gapless(struct dh_ir_range *r)
{
    long long low = 0, end;
    for (unsigned i = 0; i < r->member_count; i++)
        low = r->at[i] < low ? r->at[i] : low;
    end = low;
    for (bool grown = true; grown;) {
        grown = false;
        for (unsigned i = 0; i < r->member_count; i++) {
            long long member_end = r->at[i] + (long long)r->members[i]->size;
            if (r->at[i] <= end && member_end > end) {
                end = member_end;
                grown = true;
            }
        }
    }
    for (unsigned i = 0; i < r->member_count; i++)
        if (r->at[i] > end)
            return false;
    r->low = low;
    r->high = end;
    return end - low >= (r->step < 0 ? -r->step : r->step);
}

static u64 stride_of(const struct dh_ir_range *r)
{
    return (u64)(r->step < 0 ? -r->step : r->step);
}

/* The number of bytes, or of iterations if there are gaps, from which the check pays. */
static u64 enough(const struct dh_ir_range *r)
{
    const u64 cell = 4;
    if (r->strided)
        return MANY_ENOUGH;
    return r->members[0]->size < cell ? PARTS_ENOUGH : LONG_ENOUGH;
}

/* Computes what the check needs; false: no such check. */
static bool compute(struct planner *p, struct dh_ir_range *r)
{
    if (r->step != 0) {
        unsigned most = dh_shim_loops_max_count(p->loops, r->loop);
        if (most != 0 && (r->strided ? most : most * stride_of(r)) < enough(r))
            return false;
        r->count = dh_shim_loops_count(p->loops, r->loop);
        if (!r->count)
            return false;
    }
    r->start = dh_shim_loops_start(p->loops, r->loop, r->members[0]->ptr);
    r->place = dh_shim_loops_preheader_end(r->loop);
    return r->start != NULL;
}

/* ---- Gaps: strips, which are ranges of elements with something else between them ---- */

struct part {
    struct dh_ir_site *site;
    long long at;
};

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void join(struct dh_ir_range *strip, struct dh_ir_site *site, long long at)
{
    strip->at[strip->member_count] = at;
    strip->members[strip->member_count++] = site;
    site->range = strip;
}

/* Accesses of one size that follow each other are one element, as long as one ends before the next begins. */
static bool extends(const struct dh_ir_range *strip, const struct part *part)
{
    const struct dh_ir_site *last = strip->members[strip->member_count - 1];
    long long end = part->at + (long long)part->site->size;
    if (part->site->merged || last->merged || part->site->size != last->size)
        return false;
    return part->at == strip->at[strip->member_count - 1] ||
           (part->at == strip->high && end - strip->low < (long long)stride_of(strip));
}

static bool are_alike(const struct dh_ir_range *a, const struct dh_ir_range *b)
{
    return a->high - a->low == b->high - b->low && a->members[0]->size == b->members[0]->size &&
           a->member_count + b->member_count <= MEMBERS_MAX;
}

/* Moves the members of b to a. */
static void swallow(struct dh_ir_range *a, struct dh_ir_range *b)
{
    for (unsigned i = 0; i < b->member_count; i++)
        join(a, b->members[i], b->at[i]);
    b->member_count = 0;
}

/* The n strips of a loop that was unrolled or made to use vectors may be one, with a smaller step. */
static bool interleave(struct dh_ir_range **strips, size_t n)
{
    long long step = n > 1 ? strips[1]->low - strips[0]->low : 0;
    bool even = n > 1 && step * (long long)n == (long long)stride_of(strips[0]);
    for (size_t i = 1; i < n && even; i++)
        even = strips[i]->low - strips[i - 1]->low == step && are_alike(strips[0], strips[i]);
    if (!even || n * strips[0]->member_count > MEMBERS_MAX)
        return false;
    for (size_t i = 1; i < n; i++)
        swallow(strips[0], strips[i]);
    strips[0]->per = (unsigned)n;
    return true;
}

/* Strips that are whole steps apart are one, of some elements more: neighbours on both sides, for instance.
 * As many iterations as there are at least, MANY_ENOUGH, leave no hole in it. */
static void fold(struct dh_ir_range **strips, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n && strips[i]->member_count; k++) {
            struct dh_ir_range *a = strips[i], *b = strips[k];
            long long apart = b->low - a->low, stride = (long long)stride_of(a);
            if (b->member_count && are_alike(a, b) && apart % stride == 0 && apart / stride <= MORE_MAX) {
                a->more = (unsigned)(apart / stride);
                swallow(a, b);
            }
        }
}

/* Strips for the members of a range that has gaps, at the end of the list. The addresses of a strip are then
 * relative to its own first member. */
static void cut(struct planner *p, const struct dh_ir_range *r)
{
    struct part parts[MEMBERS_MAX];
    size_t first = p->out->count;
    for (unsigned i = 0; i < r->member_count; i++)
        parts[i] = (struct part){r->members[i], r->at[i]};
    qsort(parts, r->member_count, sizeof(*parts), compare_parts);
    for (unsigned i = 0; i < r->member_count; i++) {
        struct dh_ir_range *strip = p->out->count > first ? p->out->at[p->out->count - 1] : NULL;
        if (!strip || !extends(strip, &parts[i])) {
            strip = range_new(p, r->loop, r->write, r->step);
            strip->strided = true;
            strip->per = 1;
            strip->low = parts[i].at;
        }
        join(strip, parts[i].site, parts[i].at);
        strip->high = parts[i].at + (long long)parts[i].site->size;
    }
    struct dh_ir_range **strips = &p->out->at[first];
    size_t n = p->out->count - first;
    if (!interleave(strips, n))
        fold(strips, n);
    for (size_t i = 0; i < n; i++) {
        if (strips[i]->member_count == 0)
            continue;
        long long base = strips[i]->at[0] - strips[i]->members[0]->shift;
        strips[i]->low -= base;
        strips[i]->high -= base;
    }
}

static void drop(struct dh_ir_range *r)
{
    for (unsigned i = 0; i < r->member_count; i++)
        r->members[i]->range = NULL;
    free(r);
}

/* Ranges that have gaps make way for strips. */
static void cut_all(struct planner *p)
{
    size_t n = p->out->count, kept = 0;
    for (size_t i = 0; i < n; i++) {
        struct dh_ir_range *r = p->out->at[i];
        if (r->step == 0 || is_gapless(r))
            continue;
        cut(p, r);
        free(r);
        p->out->at[i] = NULL;
    }
    for (size_t i = 0; i < p->out->count; i++)
        if (p->out->at[i])
            p->out->at[kept++] = p->out->at[i];
    p->out->count = kept;
}

/* Elements that are longer than the step overlap, and are no strip. Where cells are touched in part, a call
 * has no advantage. */
static bool is_strip(const struct dh_ir_range *r)
{
    const u64 cell = 4;
    return r->member_count > 0 && r->high - r->low < (long long)stride_of(r) / r->per &&
           r->members[0]->size % cell == 0 && r->members[0]->align >= cell &&
           stride_of(r) / r->per % cell == 0;
}

/* -Os and -Oz. */
static bool is_to_be_small(LLVMValueRef fn)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("optsize", strlen("optsize"));
    return LLVMGetEnumAttributeAtIndex(fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind) != NULL;
}

/*
 * Filterable builds are compiled without the assumption that loops end (cli/cc_lto.c), so that no loop that
 * waits is removed. For the number of iterations it is made all the same, as in any other build: without it,
 * one that counts by twos might jump over its end and begin anew, and so would have no number. Such a loop
 * neither ends nor synchronises.
 */
void dh_ir_loops_plan(const struct dh_ir *ir, LLVMValueRef fn, struct dh_ir_sites *sites,
                      struct dh_ir_ranges *ret_ranges)
{
    struct planner p = {.loops = dh_shim_loops_new(fn, ir->filter != NULL), .out = ret_ranges};
    bool small = is_to_be_small(fn);
    sites->rare_frame = small || dh_shim_loops_calls(p.loops, fn);
    find_noisy(&p, sites);
    for (size_t i = 0; i < sites->count; i++) {
        struct dh_ir_site *site = &sites->at[i];
        if (site->covered)
            continue;
        bool access = site->kind == DH_SITE_READ || site->kind == DH_SITE_WRITE;
        if (access || site->kind == DH_SITE_COPY)
            site->rare = small || dh_shim_loops_is_rare(p.loops, site->inst);
        if (access)
            assign(&p, site);
    }
    cut_all(&p);
    size_t kept = 0;
    for (size_t i = 0; i < ret_ranges->count; i++) {
        struct dh_ir_range *r = ret_ranges->at[i];
        if ((!r->strided || is_strip(r)) && compute(&p, r))
            ret_ranges->at[kept++] = r;
        else
            drop(r);
    }
    ret_ranges->count = kept;
    free(p.noisy);
    dh_shim_loops_free(p.loops);
}

void dh_ir_loops_done(struct dh_ir_ranges *ranges)
{
    for (size_t i = 0; i < ranges->count; i++)
        free(ranges->at[i]);
    free(ranges->at);
    *ranges = (struct dh_ir_ranges){0};
}

/* ---- Emitting -------------------------------------------------------------------------------------- */

/* The builder stands before `place`, and what it inserts has the source position of the first member. */
static void stand_at(struct dh_ir *ir, const struct dh_ir_range *r, LLVMValueRef place)
{
    dh_ir_emit_at(ir, place, r->members[0]->inst);
}

/* The same for a check that stands for all members. */
static void stand_to_check(struct dh_ir *ir, const struct dh_ir_range *r, LLVMValueRef place)
{
    dh_ir_filter_begin(ir);
    for (unsigned i = 0; i < r->member_count; i++)
        dh_ir_filter_add(ir, r->members[i], DH_WHOLE_TO | DH_WHOLE_FROM);
    stand_at(ir, r, dh_ir_filter_open(ir, place));
}

/* Which of the two is to happen: the check that is then emitted, or those of the iterations? */
static void emit_choice(struct dh_ir *ir, struct dh_ir_range *r, LLVMValueRef measure, u64 enough)
{
    LLVMValueRef brief = LLVMBuildICmp(ir->builder, LLVMIntULT, measure, dh_ir_emit_u64(ir, enough), "");
    LLVMValueRef place = r->place;
    if (!LLVMIsAConstantInt(brief)) {
        r->brief = brief;
        place = dh_shim_split_if(LLVMBuildNot(ir->builder, brief, ""), place, false);
    }
    stand_to_check(ir, r, place);
}

static void emit_strip(struct dh_ir *ir, struct dh_ir_range *r, LLVMValueRef low)
{
    LLVMValueRef all = LLVMBuildMul(ir->builder, r->count, dh_ir_emit_u64(ir, r->per), "");
    LLVMValueRef args[] = {
        LLVMBuildGEP2(ir->builder, ir->u8, r->start, &low, 1, ""), dh_ir_emit_u64(ir, stride_of(r) / r->per),
        LLVMBuildAdd(ir->builder, all, dh_ir_emit_u64(ir, r->more), ""),
        dh_ir_emit_u32(ir, (u32)(r->high - r->low)), dh_ir_emit_u32(ir, (u32)r->members[0]->size)};
    emit_choice(ir, r, r->count, enough(r));
    dh_ir_emit_call(ir, r->write ? DH_IR_WRITE_STRIDE : DH_IR_READ_STRIDE, args);
}

static void emit_range(struct dh_ir *ir, struct dh_ir_range *r)
{
    stand_at(ir, r, r->place);
    LLVMValueRef last = LLVMBuildSub(ir->builder, r->count, dh_ir_emit_u64(ir, 1), "");
    LLVMValueRef way = LLVMBuildMul(ir->builder, last, dh_ir_emit_u64(ir, stride_of(r)), "");
    LLVMValueRef low = dh_ir_emit_u64(ir, (u64)r->low);
    if (r->step < 0)
        low = LLVMBuildSub(ir->builder, low, way, "");
    if (r->strided) {
        emit_strip(ir, r, low);
        return;
    }
    LLVMValueRef bytes = LLVMBuildAdd(ir->builder, way, dh_ir_emit_u64(ir, (u64)(r->high - r->low)), "");
    u64 piece = r->members[0]->merged ? 1 : r->members[0]->size;
    LLVMValueRef args[] = {LLVMBuildGEP2(ir->builder, ir->u8, r->start, &low, 1, ""), bytes,
                           dh_ir_emit_u32(ir, (u32)piece)};
    emit_choice(ir, r, bytes, enough(r));
    dh_ir_emit_call(ir, r->write ? DH_IR_WRITE_LOOP : DH_IR_READ_LOOP, args);
}

void dh_ir_loops_emit(struct dh_ir *ir, const struct dh_ir_ranges *ranges)
{
    for (size_t i = 0; i < ranges->count; i++) {
        struct dh_ir_range *r = ranges->at[i];
        const struct dh_ir_site *site = r->members[0];
        if (r->step != 0) {
            emit_range(ir, r);
        } else {
            stand_to_check(ir, r, r->place);
            dh_ir_emit_check(ir, r->write, dh_ir_emit_shifted(ir, r->start, site->shift), site->size,
                             site->align);
        }
    }
}

bool dh_ir_loops_is_inside(const struct dh_ir_site *site)
{
    return site->range->brief != NULL;
}

LLVMValueRef dh_ir_loops_position(struct dh_ir *ir, const struct dh_ir_site *site, LLVMValueRef place)
{
    LLVMValueRef inside = dh_shim_split_if(site->range->brief, place, false);
    dh_ir_emit_at(ir, inside, site->inst);
    return inside;
}
