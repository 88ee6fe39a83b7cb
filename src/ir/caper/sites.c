/*
 * sites.c - which instructions of the merged module are sites of the set `sound`.
 *
 * As in prune.c, the analysis runs in a child on a copy of the module, and instructions have numbers by their
 * place in it. The child writes a record for each instruction and site into a file in memory. Here they
 * become metadata
 * ("deadheat.caper": which side, what it does and which site, again and again), which stays with an
 * instruction while code is inserted around it.
 *
 * If the analysis fails, the program has barriers, and nothing is asked in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ir/caper/caper.h"
#include "ir/whole/whole.h"

struct record {
    u32 number; /* of the instruction */
    u32 which, access;
    u32 site;
};

struct records {
    LLVMValueRef *insts; /* by number */
    size_t n, cap;
    FILE *file;
};

static bool is_access(LLVMValueRef i)
{
    return LLVMIsALoadInst(i) || LLVMIsAStoreInst(i) || LLVMIsACallInst(i) || LLVMIsAInvokeInst(i) ||
           LLVMIsACallBrInst(i) || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i);
}

static void list_accesses(LLVMModuleRef m, struct records *r)
{
    for (LLVMValueRef fn = LLVMGetFirstFunction(m); fn; fn = LLVMGetNextFunction(fn))
        for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
            for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i))
                if (is_access(i)) {
                    r->insts = dh_util_grow(r->insts, r->n, &r->cap, sizeof(*r->insts));
                    r->insts[r->n++] = i;
                }
}

static unsigned kind_of(LLVMModuleRef m, const char *name)
{
    return LLVMGetMDKindIDInContext(LLVMGetModuleContext(m), name, (unsigned)strlen(name));
}

/* ---- in the child -------------------------------------------------------------------------------------- */

static void write_numbers(LLVMModuleRef m)
{
    LLVMContextRef ctx = LLVMGetModuleContext(m);
    unsigned kind = kind_of(m, "deadheat.number");
    struct records r = {0};
    list_accesses(m, &r);
    for (size_t i = 0; i < r.n; i++) {
        LLVMValueRef n = LLVMConstInt(LLVMInt64TypeInContext(ctx), i, false);
        LLVMSetMetadata(r.insts[i], kind, LLVMMDNodeInContext(ctx, &n, 1));
    }
    free(r.insts);
}

static void on_site(void *arg, LLVMValueRef inst, unsigned which, u8 access, u32 site)
{
    FILE *file = arg;
    LLVMModuleRef m = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst)));
    LLVMValueRef node = LLVMGetMetadata(inst, kind_of(m, "deadheat.number")), number;
    if (!node)
        return; /* of a function that was added */
    LLVMGetMDNodeOperands(node, &number);
    struct record r = {(u32)LLVMConstIntGetZExtValue(number), which, access, site};
    fwrite(&r, sizeof(r), 1, file);
}

/* ---- in the linker ------------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    if (x->which != y->which)
        return x->which < y->which ? -1 : 1;
    return (x->access > y->access) - (x->access < y->access);
}

enum { ITEMS = 3 }; /* of metadata, for each site */

/* All records of one instruction. */
static void mark(struct dh_caper *c, LLVMValueRef inst, const struct record *at, size_t n)
{
    LLVMValueRef *items = dh_util_alloc(ITEMS * n * sizeof(*items));
    for (size_t i = 0; i < n; i++) {
        items[ITEMS * i] = LLVMConstInt(c->ir->u32, at[i].which, false);
        items[ITEMS * i + 1] = LLVMConstInt(c->ir->u32, at[i].access, false);
        items[ITEMS * i + 2] = LLVMConstInt(c->ir->u32, at[i].site, false);
    }
    LLVMSetMetadata(inst, c->sites_kind, LLVMMDNodeInContext(c->ir->ctx, items, (unsigned)(ITEMS * n)));
    free(items);
}

static void mark_all(struct dh_caper *c, FILE *file)
{
    struct records r = {0};
    struct record *all = NULL, one;
    size_t n = 0, cap = 0;
    list_accesses(c->ir->module, &r);
    rewind(file);
    while (fread(&one, sizeof(one), 1, file) == 1) {
        DH_CHECK(one.number < r.n);
        all = dh_util_grow(all, n, &cap, sizeof(*all));
        all[n++] = one;
    }
    if (n > 0)
        qsort(all, n, sizeof(*all), by_number);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && all[end].number == all[i].number;)
            end++;
        mark(c, r.insts[all[i].number], &all[i], end - i);
    }
    free(all);
    free(r.insts);
}

bool dh_caper_sites_find(struct dh_caper *c)
{
    struct dh_ir_analysis a = {.why = "there is no memory for the analysis"};
    int fd = memfd_create("deadheat-sites", MFD_CLOEXEC);
    FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;
    const struct dh_whole_sites to = {.site = on_site, .arg = file};
    const struct dh_whole_options options = {.sites = &to, .relaxed = true};
    c->sites_kind = kind_of(c->ir->module, "deadheat.caper");
    bool done = file && dh_ir_analysis_run(c->ir->module, &options, write_numbers, &a);
    if (done) {
        mark_all(c, file);
        dh_ir_embed(c->ir->module, &a);
    } else {
        char sentence[sizeof(a.why) + 96];
        snprintf(
            sentence, sizeof(sentence),
            "deadheat: %s, so the program carries no table of pairs, and 'deadheat caper' learns nothing "
            "from it",
            a.why);
        dh_shim_warn(c->ir->module, sentence);
    }
    if (file)
        fclose(file);
    dh_ir_analysis_done(&a);
    return done;
}

size_t dh_caper_sites_each(const struct dh_caper *c, LLVMValueRef inst,
                           void (*visit)(void *arg, unsigned which, u8 access, u32 site), void *arg)
{
    LLVMValueRef node = LLVMGetMetadata(inst, c->sites_kind);
    unsigned n = node ? LLVMGetMDNodeNumOperands(node) : 0;
    if (n == 0)
        return 0;
    LLVMValueRef *items = dh_util_alloc(n * sizeof(*items));
    LLVMGetMDNodeOperands(node, items);
    for (unsigned i = 0; i < n; i += ITEMS)
        visit(arg, (unsigned)LLVMConstIntGetZExtValue(items[i]), (u8)LLVMConstIntGetZExtValue(items[i + 1]),
              (u32)LLVMConstIntGetZExtValue(items[i + 2]));
    free(items);
    return n / ITEMS;
}
