/*
 * sites.c - which instructions of the merged module are sites of the set `sound` (ir/marks.c), and the table
 * of pairs in the program. If the analysis fails, the program has barriers, but no questions.
 */
#include <stdio.h>

#include "ir/caper/caper.h"
#include "ir/whole/whole.h"

bool dh_caper_sites_find(struct dh_caper *c)
{
    LLVMModuleRef m = c->ir->module;
    struct dh_ir_analysis a = {.why = "there is no memory for the analysis"};
    FILE *file = dh_ir_marks_begin();
    const struct dh_whole_sites to = {.site = dh_ir_marks_on_site, .arg = file};
    const struct dh_whole_options options = {.sites = &to, .relaxed = true};
    c->sites_kind = dh_ir_marks_kind(m);
    bool done = file && dh_ir_analysis_run(m, &options, dh_ir_marks_number, &a);
    dh_ir_marks_end(m, file, done);
    if (done) {
        dh_ir_embed(m, &a);
        dh_ir_embed_sources(m);
    } else {
        char sentence[sizeof(a.why) + 96];
        snprintf(
            sentence, sizeof(sentence),
            "deadheat: %s, so the program carries no table of pairs, and 'deadheat caper' learns nothing "
            "from it",
            a.why);
        dh_shim_warn(m, sentence);
    }
    dh_ir_analysis_done(&a);
    return done;
}

size_t dh_caper_sites_each(const struct dh_caper *c, LLVMValueRef inst,
                           void (*visit)(void *arg, unsigned which, u8 access, u32 site), void *arg)
{
    return dh_ir_marks_each(c->sites_kind, inst, visit, arg);
}
