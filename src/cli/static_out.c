/*
 * static_out.c - the selected pairs as a document: section by section, or one pair in detail.
 */
#include <string.h>

#include "cli/static.h"

const char *dh_static_of_word(const struct dh_static *s)
{
    static const char *const words[] = {
        [DH_STATIC_SOURCE] = "source", [DH_STATIC_BINARY] = "binary", [DH_STATIC_BITCODE] = "bitcode"};
    return words[s->of];
}

void dh_static_forget(struct dh_static *s)
{
    dh_arena_done(&s->scratch);
    s->scratch = (struct dh_arena){0};
}

/* "owned, exit": as in the options. */
static const char *assumed(struct dh_static *s)
{
    const char *text = "";
    for (u32 bits = s->assumed; bits; bits &= bits - 1)
        text = dh_arena_printf(&s->arena, "%s%s%s", text, text[0] ? ", " : "",
                               dh_pairs_flag(bits & -bits)->name + strlen("if-"));
    return text;
}

/* A section for each variable. */
static struct dh_print_section *sections(struct dh_static *s, bool summary)
{
    struct dh_print_section *all = dh_arena_array(&s->arena, s->n_groups, sizeof(*all));
    struct dh_finding_location *variables = dh_arena_array(&s->arena, s->n_groups, sizeof(*variables));
    for (size_t i = 0; i < s->n_groups; i++) {
        const struct dh_static_group *g = &s->groups[i];
        dh_finding_of_variable(&s->from, &s->arena, g->variable, &variables[i]);
        all[i] = (struct dh_print_section){
            .variable = &variables[i],
            .n = g->n,
            .shown = summary                       ? 0
                     : s->limit && s->limit < g->n ? (size_t)s->limit
                                                   : g->n,
        };
        all[i].pairs = dh_static_pairs(s, g, &all[i].most);
    }
    return all;
}

static struct dh_finding_thread *threads(struct dh_static *s)
{
    struct dh_finding_thread *all = dh_arena_array(&s->arena, s->pairs->n_entries, sizeof(*all));
    for (u32 i = 0; i < s->pairs->n_entries; i++)
        dh_finding_of_entry(&s->from, &s->arena, i, &all[i]);
    return all;
}

static struct dh_print_static about(struct dh_static *s)
{
    return (struct dh_print_static){
        .table = s->pairs,
        .of = dh_static_of_word(s),
        .style = s->style,
        .other_style = s->set == DH_PAIRS_RELAY ? "sound" : "relay",
        .narrowed = s->narrowed,
    };
}

static void print_pair(struct dh_static *s, struct dh_print *p, u32 pair)
{
    struct dh_finding *f = dh_finding_of_pair(&s->from, &s->scratch, pair);
    dh_baseline_judge(s->baseline, f);
    dh_print_finding(p, f);
}

void dh_static_print(struct dh_static *s, struct dh_print *p, bool summary, bool stats)
{
    struct dh_print_section *all = sections(s, summary);
    struct dh_print_static facts = about(s);
    const struct dh_print_about document = {.command = s->command ? s->command : "static",
                                            .input = s->input,
                                            .baseline = s->baseline,
                                            .known = s->n_known,
                                            .pairs = &facts};
    facts.assumed = assumed(s);
    facts.pairs = dh_static_pairs(s, NULL, &facts.most);
    facts.other = s->n_other;
    facts.other_most = s->other_most;
    facts.dropped = s->n_dropped;
    facts.bundled = s->bundled;
    facts.findings = s->n_shown;
    facts.suppressed = s->n_suppressed;
    facts.variables = all;
    facts.n_variables = s->n_groups;
    facts.threads = threads(s);
    facts.n_threads = s->pairs->n_entries;
    facts.stats = stats;
    s->from.alike = p->format == DH_PRINT_JSON || p->format == DH_PRINT_JSONL;
    s->from.most = s->most;
    p->detail = DH_PRINT_SIDES;
    dh_print_begin(p, &document);
    for (size_t i = 0; i < s->n_groups; i++) {
        dh_print_open(p, &all[i]);
        for (size_t k = 0; k < all[i].shown; k++, dh_static_forget(s))
            print_pair(s, p, s->groups[i].pairs[k]);
        dh_print_close(p, &all[i]);
    }
    dh_print_end(p);
}

void dh_static_explain(struct dh_static *s, struct dh_print *p, u32 pair)
{
    struct dh_print_static facts = about(s);
    const struct dh_print_about document = {.command = "static", .input = s->input, .pairs = &facts};
    facts.explained = true;
    dh_print_begin(p, &document);
    dh_print_finding(p, s->place[0] == DH_PAIRS_NONE
                            ? dh_finding_of_pair(&s->from, &s->scratch, pair)
                            : dh_finding_of_sites(&s->from, &s->scratch, pair, s->place));
    dh_print_end(p);
}
