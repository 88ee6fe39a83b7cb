/*
 * hint.c - what a run reveals about the cause of a race beyond the race itself: the lock that protected other
 * accesses at its two places, what else ordered them, and the thread that exposed the race. A hint is given
 * only if the pattern is clear: a lock that most accesses hold and one of the two does not.
 */
#include <inttypes.h>
#include <string.h>

#include "report/finding.h"
#include "util/path.h"
#include "util/text.h"

enum {
    ENOUGH = 4, /* accesses or observations, to speak of what is usual */
    CROWD = 4,  /* number of a thread, to call it the one too many: the third that main creates */
};

static bool usual(u64 n, u64 all)
{
    return all >= ENOUGH && 2 * n > all;
}

/* "the write by thread T3 did not" */
static const char *who_lacks(struct dh_arena *arena, const struct dh_finding *f, const bool lacks[2])
{
    const struct dh_finding_access *a = &f->accesses[lacks[0] ? 0 : 1];
    if (lacks[0] && lacks[1])
        return "these two did not";
    return dh_arena_printf(arena, "the %s by thread %s did not", dh_finding_kinds[a->kind],
                           a->threads->label);
}

static const char *of_locks(struct dh_arena *arena, const struct dh_finding *f)
{
    const struct dh_finding_discipline *d = &f->discipline;
    const struct dh_symbol_frame *call = dh_symbol_top(&d->taken_at);
    if (d->lock && usual(d->held, d->accesses) && (d->lacks[0] || d->lacks[1]))
        return dh_arena_printf(
            arena, "%" PRIu64 " of %" PRIu64 " accesses recorded at these lines held `%s`; %s.", d->held,
            d->accesses, dh_text_shown(arena, d->lock), who_lacks(arena, f, d->lacks));
    if (call && call->file && usual(d->held_from, d->accesses) && (d->lacks_from[0] || d->lacks_from[1]))
        return dh_arena_printf(arena,
                               "%" PRIu64 " of %" PRIu64
                               " accesses recorded at these lines held a lock taken at %s:%d; %s.",
                               d->held_from, d->accesses, dh_text_shown(arena, dh_path_base(call->file)),
                               call->line, who_lacks(arena, f, d->lacks_from));
    return NULL;
}

/* `said`: the sentence above. Accesses under a lock are ordered by it, which need not be repeated. */
static const char *of_order(struct dh_arena *arena, const struct dh_finding *f, bool said)
{
    const struct dh_finding_discipline *d = &f->discipline;
    if (!usual(d->ordered, d->observations) || d->ordered == d->observations ||
        (said && d->lock && d->order && strcmp(d->lock, d->order) == 0))
        return NULL;
    const char *by = d->order ? dh_arena_printf(arena, "`%s`", dh_text_shown(arena, d->order))
                              : dh_arena_printf(arena, "the object at 0x%" PRIx64, d->order_addr);
    return dh_arena_printf(
        arena, "Accesses at these lines were ordered by %s in %" PRIu64 " of %" PRIu64 " observations.", by,
        d->ordered, d->observations);
}

/* Enough accesses were recorded before it: without the newest thread they did not race. */
static const char *of_threads(struct dh_arena *arena, const struct dh_finding *f)
{
    if (f->provenance == DH_FINDING_PREDICTED || f->newest_thread < CROWD || f->discipline.accesses < ENOUGH)
        return NULL;
    for (int i = 0; i < 2; i++) {
        const struct dh_finding_access *a = &f->accesses[i];
        if (a->n_threads == 1 && a->newest_thread)
            return dh_arena_printf(arena, "It first raced after thread %s was created.", a->threads->label);
    }
    return NULL;
}

const char *dh_finding_hint(struct dh_arena *arena, const struct dh_finding *f)
{
    const char *locks = of_locks(arena, f);
    const char *const said[] = {locks, of_order(arena, f, locks != NULL), of_threads(arena, f)};
    const char *all = NULL;
    for (size_t i = 0; i < DH_ARRAY_LEN(said); i++)
        if (said[i])
            all = all ? dh_arena_printf(arena, "%s %s", all, said[i]) : said[i];
    return all;
}
