/*
 * embed.c - embeds data in sections of the program being linked. A link with `deadheat cc --dh-mode=field`
 * analyses the merged module and puts the table of sites and pairs into it, as .deadheat.pairs. Programs
 * whose builds are compared by their sites also list their source files (base/filter.h).
 *
 * Sections are loaded with the program's read-only data, so that strip leaves them alone; no code
 * accesses most of them, so they cost no memory. If the analysis fails (analysis.c), the program is still
 * linked, with a warning.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/filter.h"
#include "ir/ir.h"
#include "ir/whole/whole.h"
#include "report/pairs.h"

void dh_ir_embed_bytes(LLVMModuleRef m, const char *section, const void *bytes, size_t n)
{
    LLVMValueRef data = LLVMConstStringInContext2(LLVMGetModuleContext(m), bytes ? bytes : "", n, true);
    LLVMValueRef global = LLVMAddGlobal(m, LLVMTypeOf(data), "__dh_embedded");
    LLVMSetInitializer(global, data);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetAlignment(global, 8);
    LLVMSetSection(global, section);
    dh_shim_keep(m, global);
}

void dh_ir_embed(LLVMModuleRef m, const struct dh_ir_analysis *a)
{
    dh_ir_embed_bytes(m, DH_PAIRS_SECTION, a->bytes, a->n);
}

/* ---- The files that the code is from ---- */

struct lines {
    char **at;
    size_t n, cap;
};

static void add_line(void *arg, const char *checksum, const char *name)
{
    struct lines *l = arg;
    l->at = dh_util_grow(l->at, l->n, &l->cap, sizeof(*l->at));
    if (asprintf(&l->at[l->n], "%s %s\n", checksum, name) < 0)
        dh_util_no_memory();
    l->n++;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void dh_ir_embed_sources(LLVMModuleRef m)
{
    struct lines l = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        dh_util_no_memory();
    dh_shim_each_source(m, add_line, &l);
    if (l.n > 0)
        qsort(l.at, l.n, sizeof(*l.at), compare_lines);
    for (size_t i = 0; i < l.n; i++) {
        if (i == 0 || strcmp(l.at[i], l.at[i - 1]) != 0)
            fputs(l.at[i], out);
    }
    fclose(out);
    dh_ir_embed_bytes(m, DH_SOURCES, text, size);
    for (size_t i = 0; i < l.n; i++)
        free(l.at[i]);
    free(l.at);
    free(text);
}

void dh_ir_analyse_program(LLVMModuleRef m)
{
    struct dh_ir_analysis a;
    if (dh_ir_analysis_run(m, &(struct dh_whole_options){0}, NULL, &a)) {
        dh_ir_embed(m, &a);
    } else {
        char sentence[sizeof(a.why) + 64];
        snprintf(sentence, sizeof(sentence), "deadheat: %s, so the program carries no table of pairs", a.why);
        dh_shim_warn(m, sentence);
    }
    dh_ir_analysis_done(&a);
}
