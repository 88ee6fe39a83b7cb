/*
 * prune.c - in a link with `deadheat cc --dh-prune`: which accesses of the merged module cannot race, and so
 * need no check.
 *
 * The analysis (whole/, docs/design/static.md) runs in a child of the linker on a copy of the module, and
 * changes it. It names instructions by their numbers (marks.c), and fills a table that both processes share.
 * Here, safe instructions are marked (metadata "deadheat.safe"), and sites.c uses the marks.
 *
 * For --dh-filterable (filter.c) the same analysis also determines which instructions are sites of the
 * set `sound`.
 *
 * An access that is not provably safe keeps its check; if the analysis fails or refuses, all do. Each link
 * prints the assumptions on which the omitted checks rest.
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

/* ---- in the child -------------------------------------------------------------------------------------- */

static void prepare(LLVMModuleRef m)
{
    dh_ir_marks_number(m);
    dh_ir_exports_give(m);
}

static void on_access(void *arg, LLVMValueRef inst, unsigned which, bool safe)
{
    struct table *t = arg;
    u64 number;
    if (!dh_ir_marks_number_of(inst, &number))
        return; /* of a function that was added */
    DH_CHECK(number < t->n);
    t->is[number] |= (u8)(safe ? which : which << UNSAFE_SHIFT);
}

/* ---- in the linker ------------------------------------------------------------------------------------- */

static void mark(LLVMModuleRef m, LLVMValueRef inst, u8 sides)
{
    unsigned safe = sides & ~(sides >> UNSAFE_SHIFT) & (DH_WHOLE_TO | DH_WHOLE_FROM);
    if (safe)
        write_metadata(m, inst, dh_ir_prune_kind(m), safe);
}

bool dh_ir_prune_wanted(void)
{
    return getenv("DEADHEAT_PRUNE") != NULL;
}

static bool is_quiet(void)
{
    const char *how = getenv("DEADHEAT_PRUNE");
    return how && strcmp(how, "quiet") == 0;
}

static void say_kept(const char *why)
{
    if (!is_quiet())
        fprintf(stderr,
                dh_ir_prune_wanted() ? "deadheat: %s: no check is left out: %s\n"
                                     : "deadheat: %s: of no check it is known that it needs none: %s\n",
                dh_ir_analysis_program(), why);
}

static void say_unswitched(const char *why)
{
    fprintf(stderr, "deadheat: %s: its checks cannot be switched off: %s\n", dh_ir_analysis_program(), why);
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
    const char *why, *before = "assumptions: ";
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

static bool analyse(LLVMModuleRef m, struct table *t, const char *refused, struct dh_ir_filter *filter)
{
    struct dh_ir_analysis a;
    FILE *file = filter ? dh_ir_marks_begin() : NULL;
    const struct dh_whole_sites to = {.site = dh_ir_marks_on_site, .arg = file};
    t->safe = (struct dh_whole_safe){.access = on_access, .arg = t, .refused = refused};
    /* A filter is compared with what a Caper build knows, and so asks what that asks. */
    const struct dh_whole_options options = {
        .safe = &t->safe, .sites = file ? &to : NULL, .relaxed = filter != NULL};
    bool done = dh_ir_analysis_run(m, &options, prepare, &a);
    dh_ir_marks_end(m, file, done);
    if (done && file)
        dh_ir_filter_learn(filter, &a);
    if (filter && !dh_ir_filter_knows(filter))
        say_unswitched(done ? "there is no memory for the analysis" : a.why);
    else if (!done)
        say_kept(a.why);
    else if (t->safe.refused)
        say_kept(t->safe.refused);
    else
        say_assumed(&a);
    dh_ir_analysis_done(&a);
    return done && !t->safe.refused && (!filter || dh_ir_filter_knows(filter));
}

bool dh_ir_prune_mark(LLVMModuleRef m, struct dh_ir_filter *filter)
{
    const char *why = dh_ir_exports_refuse(m);
    if (why && !filter) {
        say_kept(why);
        return false;
    }
    LLVMValueRef *insts;
    size_t n = dh_ir_marks_list(m, &insts), size = sizeof(struct table) + n;
    struct table *t = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t == MAP_FAILED) {
        say_kept("there is no memory for the analysis");
        free(insts);
        return false;
    }
    t->n = n;
    bool known = analyse(m, t, why, filter);
    for (size_t i = 0; i < n && known; i++)
        mark(m, insts[i], t->is[i]);
    munmap(t, size);
    free(insts);
    return known;
}

void dh_ir_prune_say(u64 all, u64 kept)
{
    /* A check that is left out may have stood for two others, which are then kept. */
    u64 left_out = kept < all ? all - kept : 0;
    if (!is_quiet())
        fprintf(stderr,
                "deadheat: %s: %llu of %llu checks omitted: the accesses are in no pair of the set sound\n",
                dh_ir_analysis_program(), (unsigned long long)left_out, (unsigned long long)all);
}
