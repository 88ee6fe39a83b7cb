/*
 * whole.c - the phases of the whole-program analysis, one after the other.
 */
#include "ir/whole/whole.h"

#include <errno.h>
#include <llvm-c/Target.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "ir/whole/bundle.h"
#include "ir/whole/race.h"
#include "ir/whole/shim_types.h"
#include "ir/whole/shim_whole.h"

struct clock {
    const struct dh_whole_options *o;
    struct dh_pairs *pairs;
    const char *phase;
    struct timespec since;
};

/* Ends one phase and begins the next; NULL: no next. */
static void begin(struct clock *c, const char *phase)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (c->phase != NULL) {
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        u64 spent = (u64)(now.tv_sec - c->since.tv_sec) * 1000000 + (u64)(now.tv_nsec / 1000) -
                    (u64)(c->since.tv_nsec / 1000);
        dh_pairs_add_phase(c->pairs, c->phase, spent, (u64)usage.ru_maxrss);
    }
    c->phase = phase;
    c->since = now;
    if (phase != NULL && c->o->progress != NULL)
        c->o->progress(c->o->progress_arg, phase);
}

static u64 instructions(LLVMModuleRef m)
{
    u64 n = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f != NULL; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b != NULL; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL; i = LLVMGetNextInstruction(i))
                n++;
    return n;
}

static void count(struct dh_w *w)
{
    struct dh_pts_stats s;
    dh_pts_statistics(w->pts, &s);
    dh_pairs_add_counter(w->pairs, "instructions", instructions(w->module));
    dh_pairs_add_counter(w->pairs, "functions", w->n_fns);
    dh_pairs_add_counter(w->pairs, "operations", w->program_ops);
    dh_pairs_add_counter(w->pairs, "sites", w->n_sites);
    dh_pairs_add_counter(w->pairs, "instances", w->n_insts);
    dh_pairs_add_counter(w->pairs, "instance operations", w->instance_ops);
    dh_pairs_add_counter(w->pairs, "roots", w->n_roots);
    dh_pairs_add_counter(w->pairs, "objects", w->n_objects);
    dh_pairs_add_counter(w->pairs, "points-to nodes", s.nodes);
    dh_pairs_add_counter(w->pairs, "points-to constraints", s.constraints);
    dh_pairs_add_counter(w->pairs, "points-to locations", s.locations);
    dh_pairs_add_counter(w->pairs, "points-to members", s.set_members);
    dh_pairs_add_counter(w->pairs, "points-to largest", s.set_largest);
    dh_pairs_add_counter(w->pairs, "points-to collapsed", s.collapsed);
    dh_pairs_add_counter(w->pairs, "points-to not told apart", s.widened);
    dh_pairs_add_counter(w->pairs, "points-to stretched", s.stretched);
    dh_w_assume(w, DH_W_ASSUME_BOUNDS, s.outside, NULL);
    dh_w_assume(w, DH_W_ASSUME_ARRAYS, s.confined, NULL);
}

static void release(struct dh_w *w)
{
    for (size_t i = 0; i < w->n_fns; i++) {
        struct dh_w_fn *f = &w->fns[i];
        free(f->def);
        free(f->ops);
        free(f->blocks);
        free(f->succ);
        free(f->calls);
        free(f->loops);
        free(f->typed);
    }
    for (size_t i = 0; i < w->n_insts; i++) {
        free(w->insts[i].edges);
        free(w->insts[i].forks);
    }
    free(w->fns);
    free(w->constants);
    free(w->globals);
    free(w->objects);
    free(w->insts);
    free(w->roots);
    free(w->sharers);
    free(w->indirect);
    free(w->sites);
    free(w->site_ops);
    free(w->work);
    free(w->types);
    free(w->overlap);
    free(w->members);
    free(w->related);
    free(w->early);
    free(w->last);
    dh_w_table_done(&w->fn_of);
    dh_w_table_done(&w->constant_of);
    dh_w_table_done(&w->global_of);
    dh_w_table_done(&w->inst_of);
    dh_w_table_done(&w->root_of);
    dh_w_table_done(&w->object_of);
    dh_pts_free(w->pts);
    dh_shim_types_free(w->known);
    dh_arena_done(&w->arena);
}

static void find_races(struct dh_w *w, struct clock *c)
{
    struct dh_w_flow flow;
    struct dh_w_teams teams;
    struct dh_w_races races = {.w = w, .flow = &flow, .teams = &teams};
    begin(c, "locks and threads");
    dh_w_flow_init(&flow, w);
    dh_w_fixed_find(&flow);
    dh_w_flow_run(&flow);
    begin(c, "pairs");
    dh_w_pool_init(&races.deltas, &w->arena);
    dh_w_pool_init(&races.guards, &w->arena);
    dh_w_pool_add(&races.deltas, "", 0);
    dh_w_escape(w);
    dh_w_single_find(&races);
    dh_w_guards_find_renewed(&races);
    dh_w_teams_find(&teams, &flow);
    dh_w_owner_find(&races);
    dh_w_only_calls_find(&races);
    dh_w_regions_find(&races);
    dh_w_publish_find(&races);
    dh_w_races_find(&races);
    dh_w_owner_settle(&races);
    if (c->o->safe != NULL && c->o->safe->refused == NULL)
        dh_w_safe_tell(w, &races, c->o->safe);
    dh_w_emit(&races, c->o->sites);
    dh_w_owner_done(&races);
    dh_w_regions_done(&races);
    dh_w_publish_done(&races);
    dh_w_bundles_free(races.bundles);
    free(races.found);
    dh_w_table_done(&races.found_of);
    dh_w_table_done(&races.entries_of);
    dh_w_table_done(&races.renewed);
    dh_w_pool_done(&races.deltas);
    dh_w_pool_done(&races.guards);
    dh_w_teams_done(&teams);
    dh_w_flow_done(&flow);
}

/* A thread is more than a signal handler: without one there is nothing to race. Code outside may have some.
 */
static bool has_threads(const struct dh_w *w)
{
    for (size_t i = 0; i < w->n_roots; i++)
        if (w->roots[i].kind == DH_PAIRS_THREAD || w->roots[i].unknown)
            return true;
    return w->main_fn == DH_W_NONE;
}

enum {
    LARGE_PROGRAM = 200 * 1000, /* instructions; then contexts cost too much */
    HUGE_SET = 512              /* locations: from here on pointers are not kept apart (pts/widen.c) */
};

static bool is_large(LLVMModuleRef m)
{
    size_t n = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f != NULL && n <= LARGE_PROGRAM;
         f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b != NULL; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL; i = LLVMGetNextInstruction(i))
                n++;
    return n > LARGE_PROGRAM;
}

static int analyse(LLVMModuleRef m, const struct dh_whole_options *o, struct dh_pairs **ret_pairs)
{
    struct dh_pairs *pairs = dh_pairs_new();
    struct dh_w w = {.module = m, .pairs = pairs, .text = DH_PTS_NONE, .layout = LLVMGetModuleDataLayout(m)};
    w.relaxed = o->relaxed;
    w.large = is_large(m);
    struct dh_pts_options options = {.on_flow = dh_w_on_flow,
                                     .reach = dh_w_reach,
                                     .array = dh_w_shape_array,
                                     .client = &w,
                                     .huge = HUGE_SET};
    struct clock c = {.o = o, .pairs = pairs};
    dh_pairs_set_program(pairs, o->program, "", "");
    int err = dh_pts_new(&options, &w.pts);
    if (err != 0) {
        dh_pairs_free(pairs);
        return err;
    }
    dh_w_assume_nothing(&w);
    begin(&c, "reading");
    w.known = dh_shim_types_new(m);
    dh_w_read(&w);
    dh_w_alias_find(&w);
    dh_w_clone_choose(&w);
    dh_w_typed_find(&w);
    dh_w_members_find(&w);
    begin(&c, "points-to");
    err = dh_w_solve(&w);
    if (err == 0) {
        count(&w);
        dh_w_tally(&w);
        pairs->no_threads = !has_threads(&w);
        if (!pairs->no_threads)
            find_races(&w, &c);
        else if (o->safe != NULL && o->safe->refused == NULL)
            dh_w_safe_tell(&w, NULL, o->safe);
    }
    begin(&c, NULL);
    release(&w);
    if (err != 0) {
        dh_pairs_free(pairs);
        return err;
    }
    *ret_pairs = pairs;
    return 0;
}

int dh_whole_analyse(LLVMModuleRef m, const struct dh_whole_options *o, struct dh_pairs **ret_pairs)
{
    if (strncmp(LLVMGetTarget(m), "x86_64", 6) != 0)
        return -EINVAL;
    dh_shim_name_thread_locals(m);
    dh_whole_stand_in(m);
    return analyse(m, o, ret_pairs);
}
