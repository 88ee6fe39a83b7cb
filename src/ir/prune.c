/*
 * prune.c - what a link with `deadheat cc --dh-prune` knows of the merged module: which of its accesses can
 * race with nothing, and so need no check.
 *
 * The analysis (whole/, docs/design/static.md) runs in a child of the linker on a copy of the module, and
 * changes it. So each instruction that may access memory has a number, by its place in the module: the child
 * writes them into its copy as metadata, which goes with an instruction wherever it goes and is gone when
 * it is, and fills a table that both processes share. Here, instructions that are safe are marked
 * (metadata "deadheat.safe"), and sites.c looks at the marks.
 *
 * Whatever is not clearly safe keeps its check; if the analysis fails or refuses, everything does. What it
 * assumes is said at each link: it is the price of the checks that are gone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ir/ir.h"
#include "ir/whole/whole.h"
#include "report/pairs.h"

/* Shared with the child. */
struct table {
    struct dh_whole_safe safe; /* `refused` is a constant of this plugin, at one address in both */
    size_t n;
    u8 is[]; /* by number of an instruction: the sides that are safe, and those that are not, above */
};
enum { UNSAFE_SHIFT = 2 };
_Static_assert((DH_WHOLE_TO | DH_WHOLE_FROM) < 1 << UNSAFE_SHIFT, "the sides have room below");

static unsigned kind_of(LLVMModuleRef m, const char *name)
{
    return LLVMGetMDKindIDInContext(LLVMGetModuleContext(m), name, (unsigned)strlen(name));
}

unsigned dh_ir_prune_kind(LLVMModuleRef m)
{
    return kind_of(m, "deadheat.safe");
}

static void write_metadata(LLVMModuleRef m, LLVMValueRef inst, unsigned kind, u64 number)
{
    LLVMContextRef ctx = LLVMGetModuleContext(m);
    LLVMValueRef n = LLVMConstInt(LLVMInt64TypeInContext(ctx), number, false);
    LLVMSetMetadata(inst, kind, LLVMMDNodeInContext(ctx, &n, 1));
}

/* false: there is none. */
static bool read_metadata(LLVMValueRef inst, unsigned kind, u64 *ret_number)
{
    LLVMValueRef node = LLVMGetMetadata(inst, kind), operand;
    if (!node)
        return false;
    LLVMGetMDNodeOperands(node, &operand);
    *ret_number = LLVMConstIntGetZExtValue(operand);
    return true;
}

unsigned dh_ir_prune_safe(unsigned kind, LLVMValueRef inst)
{
    u64 sides;
    return read_metadata(inst, kind, &sides) ? (unsigned)sides : 0;
}

/* Visits what may access memory, in the order of the module; returns how many there are. */
static size_t each_access(LLVMModuleRef m,
                          void (*visit)(LLVMModuleRef m, LLVMValueRef inst, size_t number, void *arg),
                          void *arg)
{
    size_t n = 0;
    for (LLVMValueRef fn = LLVMGetFirstFunction(m); fn; fn = LLVMGetNextFunction(fn))
        for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
            for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i)) {
                if (!LLVMIsALoadInst(i) && !LLVMIsAStoreInst(i) && !LLVMIsACallInst(i))
                    continue;
                if (visit)
                    visit(m, i, n, arg);
                n++;
            }
    return n;
}

/* ---- in the child -------------------------------------------------------------------------------------- */

static unsigned number_kind(LLVMModuleRef m)
{
    return kind_of(m, "deadheat.number");
}

static void write_number(LLVMModuleRef m, LLVMValueRef inst, size_t number, void *arg)
{
    (void)arg;
    write_metadata(m, inst, number_kind(m), number);
}

static void prepare(LLVMModuleRef m)
{
    each_access(m, write_number, NULL);
    dh_ir_exports_give(m);
}

static void on_access(void *arg, LLVMValueRef inst, unsigned which, bool safe)
{
    struct table *t = arg;
    LLVMModuleRef m = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst)));
    u64 number;
    if (!read_metadata(inst, number_kind(m), &number))
        return; /* of a function that was added */
    DH_CHECK(number < t->n);
    t->is[number] |= (u8)(safe ? which : which << UNSAFE_SHIFT);
}

/* ---- in the linker ------------------------------------------------------------------------------------- */

static void mark(LLVMModuleRef m, LLVMValueRef inst, size_t number, void *arg)
{
    const struct table *t = arg;
    unsigned safe = t->is[number] & ~(t->is[number] >> UNSAFE_SHIFT) & (DH_WHOLE_TO | DH_WHOLE_FROM);
    if (safe)
        write_metadata(m, inst, dh_ir_prune_kind(m), safe);
}

static bool is_quiet(void)
{
    const char *how = getenv("DEADHEAT_PRUNE");
    return how && strcmp(how, "quiet") == 0;
}

static void say_kept(const char *why)
{
    if (!is_quiet())
        fprintf(stderr, "deadheat: %s: no check is left out: %s\n", dh_ir_analysis_program(), why);
}

/* An example is "DIRECTORY/FILE:LINE NAME"; here the file is enough. */
static const char *without_directory(const char *example)
{
    size_t path = strcspn(example, " ");
    for (const char *p = example + path; p > example; p--)
        if (p[-1] == '/')
            return p;
    return example;
}

/* What the set `sound` rests on in this program, in one line. */
static void say_assumed(const struct dh_ir_analysis *a)
{
    static const char relay_only[] = "for relay";
    struct dh_pairs *pairs;
    const char *why, *before = "assumed of it: ";
    if (is_quiet() || dh_pairs_read(a->bytes, a->n, &pairs, &why) != 0)
        return;
    for (size_t i = 0; i < pairs->n_assumptions; i++) {
        const struct dh_pairs_assumption *one = &pairs->assumptions[i];
        size_t n;
        const u32 *examples = dh_pairs_items(pairs, one->examples, &n);
        if (one->count == 0 || strncmp(one->sentence, relay_only, sizeof(relay_only) - 1) == 0)
            continue;
        if (before[0] == 'a')
            fprintf(stderr, "deadheat: %s: ", dh_ir_analysis_program());
        fprintf(stderr, "%s%s (%llu%s%s)", before, one->name, (unsigned long long)one->count,
                n > 0 ? ", as in " : "", n > 0 ? without_directory(dh_pairs_string(pairs, examples[0])) : "");
        before = ", ";
    }
    if (before[0] != 'a')
        fputc('\n', stderr);
    dh_pairs_free(pairs);
}

static bool analyse(LLVMModuleRef m, struct table *t)
{
    struct dh_ir_analysis a;
    t->safe = (struct dh_whole_safe){.access = on_access, .arg = t};
    bool done = dh_ir_analysis_run(m, &(struct dh_whole_options){.safe = &t->safe}, prepare, &a);
    if (!done)
        say_kept(a.why);
    else if (t->safe.refused)
        say_kept(t->safe.refused);
    else
        say_assumed(&a);
    dh_ir_analysis_done(&a);
    return done && !t->safe.refused;
}

bool dh_ir_prune_mark(LLVMModuleRef m)
{
    const char *why = dh_ir_exports_refuse(m);
    if (why) {
        say_kept(why);
        return false;
    }
    size_t n = each_access(m, NULL, NULL), size = sizeof(struct table) + n;
    struct table *t = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t == MAP_FAILED) {
        say_kept("there is no memory for the analysis");
        return false;
    }
    t->n = n;
    bool known = analyse(m, t);
    if (known)
        each_access(m, mark, t);
    munmap(t, size);
    return known;
}

void dh_ir_prune_say(u64 all, u64 kept)
{
    /* A check that is left out may have stood for two others, which are then kept. */
    u64 left_out = kept < all ? all - kept : 0;
    if (!is_quiet())
        fprintf(stderr,
                "deadheat: %s: %llu of %llu checks left out: the accesses are in no pair of the set sound\n",
                dh_ir_analysis_program(), (unsigned long long)left_out, (unsigned long long)all);
}
