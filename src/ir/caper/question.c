/*
 * question.c - where the program can be made to ask whether memory has escaped (base/caper.h).
 *
 * Accesses to one object in one stretch of a block form a group, with one question after the last of them. A
 * stretch ends where something may free memory, synchronise, or not return: after that, the object may be
 * gone and its memory may be another private block. (A block that has escaped stays escaped while it lives,
 * so one late question covers all.) For the same reason, questions about atomic accesses and library
 * functions come before them.
 *
 * Two addresses derived from one pointer are in the same object: the language allows nothing else.
 *
 * Questions left at the end of a block are postponed to the end of the enclosing loops in which nothing ends
 * a stretch, if the pointer is the same in all iterations. This is done only for accesses that have certainly
 * happened by then: a question must not be asked for an access that was not made.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/caper.h"
#include "ir/caper/caper.h"
#include "ir/whole/library.h"
#include "ir/whole/whole.h"

/* A question that is to be inserted. */
struct dh_caper_ask {
    LLVMValueRef at;   /* before this instruction */
    LLVMValueRef base; /* about this address ... */
    long long offset;  /* ... and so many bytes; base: NULL for memory that is not known, which has escaped */
    u32 group;
};

enum { MAX_PENDING = 16, MAX_SITES = 256, MAX_TOGETHER = 16, MAX_EXITS = 8 };

/* Accesses to one object, of which the question is still to be asked. */
struct pending {
    const void *loop; /* asked behind this one; NULL: where the stretch ends */
    LLVMValueRef object, address;
    u32 sites[MAX_SITES];
    size_t n;
};

struct planner {
    struct dh_caper *c;
    struct dh_shim_exits *exits;
    struct pending at[MAX_PENDING];
    size_t n;
    struct pending *late; /* of the whole function, behind loops */
    size_t n_late, cap_late;
};

/* ---- groups ---- */

static void add_word(struct dh_caper *c, u32 word)
{
    c->groups = dh_util_grow(c->groups, c->n_group_words, &c->cap_group_words, sizeof(*c->groups));
    c->groups[c->n_group_words++] = word;
}

static int by_number(const void *a, const void *b)
{
    const u32 *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static u32 add_group(struct dh_caper *c, u32 *sites, size_t n)
{
    size_t count = c->n_group_words;
    qsort(sites, n, sizeof(*sites), by_number);
    add_word(c, 0);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || sites[i] != sites[i - 1])
            add_word(c, sites[i]);
    c->groups[count] = (u32)(c->n_group_words - count - 1);
    return c->n_groups++;
}

static void ask(struct dh_caper *c, LLVMValueRef at, LLVMValueRef address, u32 group)
{
    c->asks = dh_util_grow(c->asks, c->n_asks, &c->cap_asks, sizeof(*c->asks));
    struct dh_caper_ask *q = &c->asks[c->n_asks++];
    *q = (struct dh_caper_ask){.at = at, .group = group};
    q->base = address ? dh_shim_base(address, &q->offset) : NULL;
}

/* ---- stretches ---- */

static void flush_one(struct planner *p, struct pending *one, LLVMValueRef before)
{
    if (one->n > 0)
        ask(p->c, before, one->address, add_group(p->c, one->sites, one->n));
    one->n = 0;
}

static void flush(struct planner *p, LLVMValueRef before)
{
    for (size_t i = 0; i < p->n; i++)
        flush_one(p, &p->at[i], before);
    p->n = 0;
}

/* ---- behind loops ---- */

static void put_off(struct planner *p, const struct pending *one, const void *loop, LLVMValueRef origin)
{
    struct pending *to = NULL;
    for (size_t i = 0; i < p->n_late && !to; i++)
        if (p->late[i].loop == loop && p->late[i].object == origin && p->late[i].n + one->n <= MAX_SITES)
            to = &p->late[i];
    if (!to) {
        p->late = dh_util_grow(p->late, p->n_late, &p->cap_late, sizeof(*p->late));
        to = &p->late[p->n_late++];
        to->loop = loop;
        to->object = origin;
        to->address = one->address;
        to->n = 0;
    }
    memcpy(&to->sites[to->n], one->sites, one->n * sizeof(one->sites[0]));
    to->n += one->n;
}

/* At the end of a block. */
static void flush_late(struct planner *p, LLVMValueRef end)
{
    for (size_t i = 0; i < p->n; i++) {
        struct pending *one = &p->at[i];
        LLVMValueRef origin;
        const void *loop = one->n > 0 ? dh_shim_exits_loop(p->exits, end, one->address, &origin) : NULL;
        if (!loop)
            continue;
        put_off(p, one, loop, origin);
        one->n = 0;
    }
    flush(p, end);
}

static void ask_late(struct planner *p)
{
    for (size_t i = 0; i < p->n_late; i++) {
        LLVMValueRef places[MAX_EXITS];
        struct pending *one = &p->late[i];
        u32 group = add_group(p->c, one->sites, one->n);
        unsigned n = dh_shim_exits_places(p->exits, one->loop, places, MAX_EXITS);
        DH_CHECK(n > 0 && n <= MAX_EXITS);
        for (unsigned k = 0; k < n; k++)
            ask(p->c, places[k], one->address, group);
    }
}

static struct pending *find(struct planner *p, LLVMValueRef address, LLVMValueRef at)
{
    LLVMValueRef object = dh_shim_object(address);
    for (size_t i = 0; i < p->n; i++)
        if (p->at[i].object == object) {
            if (p->at[i].n == MAX_SITES)
                flush_one(p, &p->at[i], at);
            p->at[i].address = address;
            return &p->at[i];
        }
    if (p->n == MAX_PENDING)
        flush(p, at);
    p->at[p->n] = (struct pending){.object = object, .address = address};
    return &p->at[p->n++];
}

struct sites {
    u32 at[MAX_SITES];
    size_t n;
    unsigned which; /* only of this side */
};

static void add_site(void *arg, unsigned which, u8 access, u32 site)
{
    struct sites *s = arg;
    (void)access;
    if (!(which & s->which))
        return;
    DH_CHECK(s->n < MAX_SITES);
    s->at[s->n++] = site;
}

static size_t sites_of(struct planner *p, LLVMValueRef inst, unsigned which, struct sites *ret)
{
    ret->n = 0;
    ret->which = which;
    dh_caper_sites_each(p->c, inst, add_site, ret);
    return ret->n;
}

/* An access by an instruction. */
static void plan_access(struct planner *p, LLVMValueRef inst, LLVMValueRef address)
{
    struct sites s;
    if (sites_of(p, inst, DH_WHOLE_TO | DH_WHOLE_FROM, &s) == 0)
        return;
    struct pending *one = find(p, address, inst);
    if (one->n + s.n > MAX_SITES)
        flush_one(p, one, inst);
    memcpy(&one->sites[one->n], s.at, s.n * sizeof(s.at[0]));
    one->n += s.n;
}

/* ---- calls ---- */

static bool is_pointer(LLVMValueRef v)
{
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
}

static bool is_copy(const char *name)
{
    static const char *const copies[] = {"llvm.memcpy.", "llvm.memmove."};
    for (size_t i = 0; i < DH_ARRAY_LEN(copies); i++)
        if (strncmp(name, copies[i], strlen(copies[i])) == 0)
            return true;
    return false;
}

/* Whether a library function accesses memory that none of its arguments points to. */
static bool reaches_further(const char *name)
{
    const char *effects = dh_w_library(name);
    struct dh_w_effect e;
    if (effects == NULL)
        return strncmp(name, "llvm.", 5) != 0;
    while (dh_w_effect_next(&effects, &e))
        if (e.n_deref > 0 || e.list || e.kind == DH_W_EFFECT_LENT || e.kind == DH_W_EFFECT_USE ||
            e.kind == DH_W_EFFECT_LIST || e.kind == DH_W_EFFECT_TREE || e.kind == DH_W_EFFECT_WALK)
            return true;
    return false;
}

/* Which of the arguments an access goes through is not known here; if any of them has escaped, all sites
 * count. */
static void ask_arguments(struct planner *p, LLVMValueRef call, const char *name, struct sites *s)
{
    u32 group = add_group(p->c, s->at, s->n);
    bool any = false;
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call) && !reaches_further(name); i++)
        if (is_pointer(LLVMGetOperand(call, i))) {
            ask(p->c, call, LLVMGetOperand(call, i), group);
            any = true;
        }
    if (!any)
        ask(p->c, call, NULL, group);
}

/* Whether the instruction may free memory, synchronise, or not come back. */
static bool ends_stretch(const struct planner *p, LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMLoad:
    case LLVMStore:
        return LLVMGetOrdering(inst) != LLVMAtomicOrderingNotAtomic;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMFence:
    case LLVMInvoke:
    case LLVMCallBr:
        return true;
    case LLVMCall:
        return LLVMGetTailCallKind(inst) == LLVMTailCallKindMustTail ||
               dh_ir_quiet_call(p->c->ir->quiet, inst) != DH_CALL_CALM;
    default:
        return false;
    }
}

static bool is_quiet(void *arg, LLVMValueRef inst)
{
    return !ends_stretch(arg, inst);
}

static void plan_call(struct planner *p, LLVMValueRef call)
{
    static const unsigned sides[] = {DH_WHOLE_TO, DH_WHOLE_FROM};
    size_t len;
    struct sites s;
    LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
    const char *name = callee ? LLVMGetValueName2(callee, &len) : "";
    bool copy = callee && is_copy(name);
    if (ends_stretch(p, call))
        flush(p, call);
    for (unsigned i = 0; i < DH_ARRAY_LEN(sides) && copy; i++)
        if (sites_of(p, call, sides[i], &s) > 0)
            ask(p->c, call, LLVMGetOperand(call, i), add_group(p->c, s.at, s.n));
    if (!copy && sites_of(p, call, DH_WHOLE_TO | DH_WHOLE_FROM, &s) > 0)
        ask_arguments(p, call, name, &s);
}

static void plan(struct planner *p, LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMLoad:
    case LLVMStore:
        plan_access(p, inst, LLVMGetOperand(inst, LLVMIsALoadInst(inst) ? 0 : 1));
        break;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        plan_access(p, inst, LLVMGetOperand(inst, 0));
        break;
    case LLVMCall:
    case LLVMInvoke:
    case LLVMCallBr:
        plan_call(p, inst);
        return;
    default:
        break;
    }
    if (ends_stretch(p, inst))
        flush(p, inst);
    else if (LLVMIsATerminatorInst(inst))
        flush_late(p, inst);
}

void dh_caper_questions_plan(struct dh_caper *c, LLVMValueRef fn)
{
    struct planner *p = dh_util_alloc(sizeof(*p));
    *p = (struct planner){.c = c};
    p->exits = dh_shim_exits_new(fn, is_quiet, p);
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i))
            plan(p, i);
        DH_CHECK(p->n == 0);
    }
    ask_late(p);
    dh_shim_exits_free(p->exits);
    free(p->late);
    free(p);
}

/* ---- in the code ---- */

/* Is a number needed for more than addresses? If not, the compiler makes it a part of them. */
static bool is_kept(LLVMValueRef number)
{
    if (LLVMIsAZExtInst(number) || LLVMIsASExtInst(number))
        number = LLVMGetOperand(number, 0);
    if (!LLVMIsAInstruction(number) || LLVMIsAPHINode(number))
        return true;
    for (LLVMUseRef use = LLVMGetFirstUse(number); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsAGetElementPtrInst(user) && !LLVMIsAZExtInst(user) && !LLVMIsASExtInst(user))
            return true;
    }
    return false;
}

/* An address is computed beside the way, where it is asked about, if that takes nothing from before that does
 * not live on anyway: an element of an object that the pointer was known to earlier. Else loops would compute
 * it in each round. */
static LLVMValueRef computed_here(struct dh_caper *c, LLVMValueRef base)
{
    LLVMValueRef object = LLVMIsAGetElementPtrInst(base) ? LLVMGetOperand(base, 0) : NULL;
    if (!object ||
        (LLVMIsAInstruction(object) && LLVMGetInstructionParent(object) == LLVMGetInstructionParent(base)))
        return base;
    for (unsigned i = 1; i < LLVMGetNumIndices(base) + 1; i++)
        if (!is_kept(LLVMGetOperand(base, i)))
            return base;
    LLVMValueRef copy = LLVMInstructionClone(base);
    LLVMInsertIntoBuilder(c->ir->builder, copy);
    return copy;
}

/*
 * Questions at one place share a nop, and are asked together if one of them is wanted: what the others answer
 * is true as well. In the compiler a nop is two blocks and some assembly, each with a parser of its own, and
 * that is what takes its time in a large program.
 */
static void insert(struct dh_caper *c, const struct dh_caper_ask *q, size_t n)
{
    enum { HEAD = 192, ENTRY = 48 };
    char text[HEAD + MAX_TOGETHER * ENTRY];
    int len = snprintf(text, HEAD, DH_PATCH_ASM_BEGIN(DH_CAPER_QUESTIONS));
    DH_CHECK(n <= MAX_TOGETHER);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || q[i].group != q[i - 1].group)
            len += snprintf(text + len, ENTRY, DH_PATCH_ASM_POINT, q[i].group);
    snprintf(text + len, ENTRY, DH_PATCH_ASM_END);
    LLVMValueRef inside = dh_shim_insert_branch(q->at, text);
    LLVMPositionBuilderBefore(c->ir->builder, inside);
    dh_ir_emit_position_of(c->ir, q->at);
    for (size_t i = 0; i < n; i++) {
        LLVMValueRef address = q[i].base ? dh_ir_emit_shifted(c->ir, computed_here(c, q[i].base), q[i].offset)
                                         : LLVMConstNull(c->ir->ptr);
        LLVMValueRef args[] = {address, dh_ir_emit_u32(c->ir, q[i].group)};
        dh_caper_emit_call(c, DH_CAPER_ASK, args);
    }
}

void dh_caper_questions_insert(struct dh_caper *c)
{
    const struct dh_caper_head head = {
        .version = DH_CAPER_VERSION, .n_groups = c->n_groups, .n_group_words = c->n_group_words};
    for (size_t i = 0, end; i < c->n_asks; i = end) {
        for (end = i + 1; end < c->n_asks && end - i < MAX_TOGETHER && c->asks[end].at == c->asks[i].at;)
            end++;
        insert(c, &c->asks[i], end - i);
    }
    dh_ir_embed_bytes(c->ir->module, DH_CAPER_HEAD, &head, sizeof(head));
    dh_ir_embed_bytes(c->ir->module, DH_CAPER_GROUPS, c->groups, c->n_group_words * sizeof(u32));
}
