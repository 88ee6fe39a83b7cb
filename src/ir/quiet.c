/*
 * quiet.c - which calls cannot synchronise, and which of those certainly return.
 *
 * A window (sites.c) may span a call that can neither publish what this thread did nor learn what other
 * threads did. That holds for intrinsics, functions that access no memory, some of the C library, and those
 * functions of the module whose bodies contain no atomic operation, fence, inline assembly or call of
 * anything else. Only bodies that are certain to be used count: what a linker may replace (weak definitions,
 * interposition) is unknown. Allocators are unknown too: memory that is freed or allocated loses its history,
 * and with it the check that was to cover another.
 *
 * "Cannot synchronise" is a greatest fixed point over the call graph: everything is quiet that does not reach
 * something noisy, including recursion. "Returns" is a least one: a function returns if those that it calls
 * do, so recursion never does. The language must allow assuming that its loops terminate, and there must be
 * no volatile accesses, which invalidate that assumption.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"

struct node {
    LLVMValueRef fn;
    bool noisy;         /* it may synchronise */
    bool stays;         /* something in its own body may not come back */
    bool returns;       /* nor is there such a thing in what it calls */
    size_t waiting;     /* calls of functions that are not yet known to return */
    size_t first, last; /* its callers, in edges */
};

struct edge {
    size_t callee, caller;
};

struct dh_ir_quiet {
    struct node *nodes; /* sorted by fn */
    size_t node_count;
    struct edge *edges; /* sorted by callee */
    size_t edge_count, edge_capacity;
    struct dh_shim_library *library;
};

/* ---- One call -------------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, *(const char *const *)b);
}

/* Functions of the C library that read and write what they are given, and perhaps errno. In order. */
static const char *const harmless[] = {
    "abs",     "atof",    "atoi",    "atol",    "atoll",       "bcmp",       "bcopy",   "bzero",
    "ffs",     "ffsl",    "ffsll",   "htonl",   "htons",       "isascii",    "isdigit", "labs",
    "llabs",   "memccpy", "memchr",  "memcmp",  "memcpy",      "memmove",    "mempcpy", "memrchr",
    "memset",  "ntohl",   "ntohs",   "stpcpy",  "stpncpy",     "strcasecmp", "strcat",  "strchr",
    "strcmp",  "strcpy",  "strcspn", "strlen",  "strncasecmp", "strncat",    "strncmp", "strncpy",
    "strnlen", "strpbrk", "strrchr", "strspn",  "strstr",      "strtod",     "strtof",  "strtok_r",
    "strtol",  "strtold", "strtoll", "strtoul", "strtoull",    "toascii",    "wcslen",
};

/* The same, of arithmetic: each also with an f or an l behind it. In order. */
static const char *const arithmetic[] = {
    "acos",  "acosh",     "asin", "asinh", "atan",      "atan2", "atanh",     "cabs",   "cbrt",
    "ceil",  "copysign",  "cos",  "cosh",  "erf",       "exp",   "exp10",     "exp2",   "expm1",
    "fabs",  "floor",     "fmax", "fmin",  "fmod",      "frexp", "ldexp",     "log",    "log10",
    "log1p", "log2",      "logb", "modf",  "nearbyint", "pow",   "remainder", "remquo", "rint",
    "round", "roundeven", "sin",  "sinh",  "sqrt",      "tan",   "tanh",      "trunc",
};

static bool is_among(const char *name, const char *const *list, size_t n)
{
    return bsearch(name, list, n, sizeof(*list), compare_names) != NULL;
}

static enum dh_ir_call library_call(const struct dh_ir_quiet *q, LLVMValueRef call)
{
    char stem[32];
    const char *name = dh_shim_library_name(q->library, call);
    size_t len = name ? strlen(name) : 0;
    if (len == 0 || len >= sizeof(stem))
        return DH_CALL_SYNCS;
    if (is_among(name, harmless, DH_ARRAY_LEN(harmless)) ||
        is_among(name, arithmetic, DH_ARRAY_LEN(arithmetic)))
        return DH_CALL_CALM;
    memcpy(stem, name, len + 1);
    stem[len - 1] = 0;
    if ((name[len - 1] == 'f' || name[len - 1] == 'l') &&
        is_among(stem, arithmetic, DH_ARRAY_LEN(arithmetic)))
        return DH_CALL_CALM;
    /* With a check of the room that there is; they end the program where it is too small. */
    if (len > 6 && strncmp(name, "__", 2) == 0 && strcmp(name + len - 4, "_chk") == 0) {
        memcpy(stem, name + 2, len - 6);
        stem[len - 6] = 0;
        if (is_among(stem, harmless, DH_ARRAY_LEN(harmless)))
            return DH_CALL_QUIET;
    }
    return DH_CALL_SYNCS;
}

/* Calls of which everything is known but, perhaps, what the module's own functions do. */
static enum dh_ir_call plain_call(const struct dh_ir_quiet *q, LLVMValueRef call)
{
    unsigned traits = dh_shim_call_traits(call);
    LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
    bool intrinsic = callee && LLVMGetIntrinsicID(callee) != 0;
    enum dh_ir_call quiet = traits & DH_CALL_COMES_BACK ? DH_CALL_CALM : DH_CALL_QUIET;
    if (traits & DH_CALL_ASM)
        return traits & DH_CALL_READNONE && quiet == DH_CALL_CALM ? DH_CALL_CALM : DH_CALL_SYNCS;
    if (intrinsic && (dh_ir_sites_is_copy(callee) || dh_ir_masked_is(call)))
        return DH_CALL_CALM;
    /* A function that touches no memory can neither synchronise nor call what does; of intrinsics it is also
     * known which ones synchronise. */
    if (traits & (intrinsic ? DH_CALL_NOSYNC | DH_CALL_READNONE : DH_CALL_READNONE))
        return quiet;
    /* Nothing comes after it. (What is left by longjmp or an exception goes on elsewhere: at a call of
     * setjmp, which is unknown; an exception is not nounwind.) */
    if (traits & DH_CALL_NEVER_BACK)
        return DH_CALL_QUIET;
    return q && callee && LLVMIsDeclaration(callee) ? library_call(q, call) : DH_CALL_SYNCS;
}

/* ---- The module's own functions -------------------------------------------------------------------- */

static int compare_nodes(const void *a, const void *b)
{
    uptr x = (uptr)((const struct node *)a)->fn, y = (uptr)((const struct node *)b)->fn;
    return x < y ? -1 : x > y;
}

static int compare_edges(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return x->callee < y->callee ? -1 : x->callee > y->callee;
}

static struct node *find(const struct dh_ir_quiet *q, LLVMValueRef call)
{
    struct node key = {.fn = LLVMIsAFunction(LLVMGetCalledValue(call))};
    return key.fn ? bsearch(&key, q->nodes, q->node_count, sizeof(key), compare_nodes) : NULL;
}

static bool is_known(LLVMValueRef fn)
{
    return !LLVMIsDeclaration(fn) && LLVMGetLinkage(fn) != LLVMAvailableExternallyLinkage &&
           !dh_shim_is_interposable(fn);
}

static void edge_add(struct dh_ir_quiet *q, const struct node *callee, const struct node *caller)
{
    if (q->edge_count == q->edge_capacity) {
        q->edge_capacity = q->edge_capacity ? q->edge_capacity * 2 : 256;
        q->edges = realloc(q->edges, q->edge_capacity * sizeof(*q->edges));
    }
    q->edges[q->edge_count++] =
        (struct edge){.callee = (size_t)(callee - q->nodes), .caller = (size_t)(caller - q->nodes)};
}

static bool is_volatile_copy(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
    return callee && dh_ir_sites_is_copy(callee) && LLVMConstIntGetZExtValue(LLVMGetOperand(call, 3)) != 0;
}

static void look_at_call(struct dh_ir_quiet *q, struct node *node, LLVMValueRef call)
{
    enum dh_ir_call kind = plain_call(q, call);
    struct node *callee = kind == DH_CALL_SYNCS ? find(q, call) : NULL;
    if (callee)
        edge_add(q, callee, node);
    else
        node->noisy |= kind == DH_CALL_SYNCS;
    node->stays |= kind == DH_CALL_QUIET || is_volatile_copy(call);
}

static bool is_plain(LLVMValueRef inst)
{
    return (LLVMIsALoadInst(inst) || LLVMIsAStoreInst(inst)) &&
           LLVMGetOrdering(inst) == LLVMAtomicOrderingNotAtomic;
}

static bool is_atomic(LLVMValueRef inst)
{
    return LLVMIsAFenceInst(inst) || LLVMIsAAtomicRMWInst(inst) || LLVMIsAAtomicCmpXchgInst(inst) ||
           ((LLVMIsALoadInst(inst) || LLVMIsAStoreInst(inst)) && !is_plain(inst));
}

static void look_at(struct dh_ir_quiet *q, struct node *node, LLVMValueRef inst)
{
    if (LLVMIsACallBrInst(inst))
        node->noisy = true;
    else if (LLVMIsACallInst(inst) || LLVMIsAInvokeInst(inst))
        look_at_call(q, node, inst);
    else if (LLVMIsAResumeInst(inst))
        node->stays = true;
    else if (is_plain(inst))
        node->stays |= LLVMGetVolatile(inst) != 0;
    else if (is_atomic(inst))
        node->noisy |= !LLVMIsAtomicSingleThread(inst);
}

static void look_into(struct dh_ir_quiet *q, struct node *node)
{
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(node->fn); bb && !node->noisy;
         bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(bb); inst && !node->noisy;
             inst = LLVMGetNextInstruction(inst))
            look_at(q, node, inst);
    if (!node->noisy && !node->stays)
        node->stays = !dh_shim_loops_end(node->fn);
}

/* Callers of what is noisy are noisy. */
static void spread_noise(struct dh_ir_quiet *q, size_t *queue)
{
    size_t n = 0;
    for (size_t i = 0; i < q->node_count; i++)
        if (q->nodes[i].noisy)
            queue[n++] = i;
    while (n > 0) {
        const struct node *callee = &q->nodes[queue[--n]];
        DH_CHECK(callee->first == callee->last || q->edges != NULL);
        for (size_t e = callee->first; e < callee->last; e++) {
            struct node *caller = &q->nodes[q->edges[e].caller];
            if (!caller->noisy)
                queue[n++] = q->edges[e].caller;
            caller->noisy = true;
        }
    }
}

/* From the leaves upwards; what is never reached is in a cycle, or calls what may not come back. */
static void find_returning(struct dh_ir_quiet *q, size_t *queue)
{
    size_t n = 0;
    for (size_t i = 0; i < q->node_count; i++)
        if (q->nodes[i].waiting == 0)
            queue[n++] = i;
    while (n > 0) {
        struct node *callee = &q->nodes[queue[--n]];
        callee->returns = !callee->stays && !callee->noisy;
        DH_CHECK(callee->first == callee->last || q->edges != NULL);
        for (size_t e = callee->first; e < callee->last && callee->returns; e++)
            if (--q->nodes[q->edges[e].caller].waiting == 0)
                queue[n++] = q->edges[e].caller;
    }
}

struct dh_ir_quiet *dh_ir_quiet_new(LLVMModuleRef m)
{
    struct dh_ir_quiet *q = calloc(1, sizeof(*q));
    size_t all = 0;
    for (LLVMValueRef fn = LLVMGetFirstFunction(m); fn; fn = LLVMGetNextFunction(fn))
        all++;
    q->library = dh_shim_library_new(m);
    q->nodes = calloc(all + 1, sizeof(*q->nodes));
    for (LLVMValueRef fn = LLVMGetFirstFunction(m); fn; fn = LLVMGetNextFunction(fn))
        if (is_known(fn))
            q->nodes[q->node_count++].fn = fn;
    qsort(q->nodes, q->node_count, sizeof(*q->nodes), compare_nodes);
    for (size_t i = 0; i < q->node_count; i++)
        look_into(q, &q->nodes[i]);
    if (q->edge_count > 0)
        qsort(q->edges, q->edge_count, sizeof(*q->edges), compare_edges);
    for (size_t e = 0; e < q->edge_count; e++) {
        struct node *callee = &q->nodes[q->edges[e].callee];
        if (callee->last == 0)
            callee->first = e;
        callee->last = e + 1;
        q->nodes[q->edges[e].caller].waiting++;
    }
    size_t *queue = calloc(q->node_count + 1, sizeof(*queue));
    spread_noise(q, queue);
    find_returning(q, queue);
    free(queue);
    return q;
}

void dh_ir_quiet_free(struct dh_ir_quiet *q)
{
    if (!q)
        return;
    dh_shim_library_free(q->library);
    free(q->nodes);
    free(q->edges);
    free(q);
}

enum dh_ir_call dh_ir_quiet_call(const struct dh_ir_quiet *q, LLVMValueRef call)
{
    enum dh_ir_call kind = plain_call(q, call);
    const struct node *callee = q && kind == DH_CALL_SYNCS ? find(q, call) : NULL;
    if (callee && !callee->noisy)
        kind = callee->returns ? DH_CALL_CALM : DH_CALL_QUIET;
    return kind;
}
