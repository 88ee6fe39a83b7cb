/*
 * marks.c - which instructions of the merged module are sites of the set `sound`, according to the analysis
 * of the whole program in a child of the linker.
 *
 * The child works on a copy of the module, and changes it. So each instruction that may access memory is
 * numbered by its position in the module. The child attaches the numbers in its copy as metadata
 * ("deadheat.number"), which follows an instruction wherever it is moved and disappears with it. It writes a
 * record for each instruction and site into a file in memory. Here the records become metadata
 * ("deadheat.sites": a sequence of side, kind of access and site), which stays with an instruction while code
 * is inserted around it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ir/ir.h"
#include "util/arena.h"

struct record {
    u32 number; /* of the instruction */
    u32 which, access;
    u32 site;
};

static bool is_access(LLVMValueRef i)
{
    return LLVMIsALoadInst(i) || LLVMIsAStoreInst(i) || LLVMIsACallInst(i) || LLVMIsAInvokeInst(i) ||
           LLVMIsACallBrInst(i) || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i);
}

size_t dh_ir_marks_list(LLVMModuleRef m, LLVMValueRef **ret)
{
    LLVMValueRef *insts = NULL;
    size_t n = 0, cap = 0;
    for (LLVMValueRef fn = LLVMGetFirstFunction(m); fn; fn = LLVMGetNextFunction(fn))
        for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
            for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i))
                if (is_access(i)) {
                    insts = dh_util_grow(insts, n, &cap, sizeof(*insts));
                    insts[n++] = i;
                }
    *ret = insts;
    return n;
}

static unsigned kind_of(LLVMModuleRef m, const char *name)
{
    return LLVMGetMDKindIDInContext(LLVMGetModuleContext(m), name, (unsigned)strlen(name));
}

unsigned dh_ir_marks_kind(LLVMModuleRef m)
{
    return kind_of(m, "deadheat.sites");
}

/* ---- in the child -------------------------------------------------------------------------------------- */

static const char number[] = "deadheat.number";

void dh_ir_marks_number(LLVMModuleRef m)
{
    LLVMContextRef ctx = LLVMGetModuleContext(m);
    unsigned kind = kind_of(m, number);
    LLVMValueRef *insts;
    size_t count = dh_ir_marks_list(m, &insts);
    for (size_t i = 0; i < count; i++) {
        LLVMValueRef n = LLVMConstInt(LLVMInt64TypeInContext(ctx), i, false);
        LLVMSetMetadata(insts[i], kind, LLVMMDNodeInContext(ctx, &n, 1));
    }
    free(insts);
}

bool dh_ir_marks_number_of(LLVMValueRef inst, u64 *ret)
{
    LLVMModuleRef m = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst)));
    LLVMValueRef node = LLVMGetMetadata(inst, kind_of(m, number)), operand;
    if (!node)
        return false;
    LLVMGetMDNodeOperands(node, &operand);
    *ret = LLVMConstIntGetZExtValue(operand);
    return true;
}

void dh_ir_marks_on_site(void *arg, LLVMValueRef inst, unsigned which, u8 access, u32 site)
{
    u64 n;
    if (!dh_ir_marks_number_of(inst, &n))
        return; /* of a function that was added */
    struct record r = {(u32)n, which, access, site};
    fwrite(&r, sizeof(r), 1, (FILE *)arg);
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
static void mark(LLVMModuleRef m, LLVMValueRef inst, const struct record *at, size_t n)
{
    LLVMContextRef ctx = LLVMGetModuleContext(m);
    LLVMTypeRef u32_type = LLVMInt32TypeInContext(ctx);
    LLVMValueRef *items = dh_util_alloc(ITEMS * n * sizeof(*items));
    for (size_t i = 0; i < n; i++) {
        items[ITEMS * i] = LLVMConstInt(u32_type, at[i].which, false);
        items[ITEMS * i + 1] = LLVMConstInt(u32_type, at[i].access, false);
        items[ITEMS * i + 2] = LLVMConstInt(u32_type, at[i].site, false);
    }
    LLVMSetMetadata(inst, dh_ir_marks_kind(m), LLVMMDNodeInContext(ctx, items, (unsigned)(ITEMS * n)));
    free(items);
}

static void mark_all(LLVMModuleRef m, FILE *file)
{
    LLVMValueRef *insts;
    struct record *all = NULL, one;
    size_t count = dh_ir_marks_list(m, &insts), n = 0, cap = 0;
    DH_CHECK(fseek(file, 0, SEEK_SET) == 0);
    while (fread(&one, sizeof(one), 1, file) == 1) {
        DH_CHECK(one.number < count);
        all = dh_util_grow(all, n, &cap, sizeof(*all));
        all[n++] = one;
    }
    if (n > 0)
        qsort(all, n, sizeof(*all), by_number);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && all[end].number == all[i].number;)
            end++;
        mark(m, insts[all[i].number], &all[i], end - i);
    }
    free(all);
    free(insts);
}

FILE *dh_ir_marks_begin(void)
{
    int fd = memfd_create("deadheat-sites", MFD_CLOEXEC);
    return fd >= 0 ? fdopen(fd, "w+") : NULL;
}

void dh_ir_marks_end(LLVMModuleRef m, FILE *file, bool known)
{
    if (file && known)
        mark_all(m, file);
    if (file)
        fclose(file);
}

size_t dh_ir_marks_each(unsigned kind, LLVMValueRef inst,
                        void (*visit)(void *arg, unsigned which, u8 access, u32 site), void *arg)
{
    LLVMValueRef node = LLVMGetMetadata(inst, kind);
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
