/*
 * static_text.c - the pairs for a person to read, variable by variable.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/static.h"
#include "util/text.h"

static const struct dh_static_palette plain = {"", "", "", "", ""};
static const struct dh_static_palette coloured = {"\033[1;35m", "\033[1m", "\033[36m", "\033[2m", "\033[0m"};

const struct dh_static_palette *dh_static_palette(const struct dh_static *s)
{
    return s->color ? &coloured : &plain;
}

static void print_side(struct dh_static *s, const struct dh_pairs_side *side)
{
    const struct dh_static_palette *c = dh_static_palette(s);
    const struct dh_pairs_site *site = &s->pairs->sites[side->site];
    const char *place = dh_static_place(s, &site->at);
    fprintf(s->out, "    %s%s%s in %s", c->strong, dh_static_access(s, site), c->off,
            dh_static_function(s, site->function));
    fprintf(s->out, place[0] ? " at %s%s%s" : "%s%s%s", c->place, place, c->off);
    fprintf(s->out, ", holding %s\n", dh_static_held(s, side->locks));
    size_t len;
    const char *line = dh_static_line(s, &site->at, &len);
    if (len) {
        fprintf(s->out, "      %s%5u |%s ", c->dim, site->at.line, c->off);
        dh_text_put_line(s->out, line, len);
        fputc('\n', s->out);
    }
    fprintf(s->out, "      run by %s\n", dh_static_reached(s, side->entries));
}

static void print_pair(struct dh_static *s, u32 number)
{
    const struct dh_static_palette *c = dh_static_palette(s);
    const struct dh_pairs_pair *pair = &s->pairs->pairs[number];
    const char *why = dh_static_why(s, pair);
    fprintf(s->out, "\n  %sP%u%s %s%s%s%s\n", c->strong, number + 1, c->off, c->dim,
            dh_static_pair_id(s, pair), c->off,
            pair->flags & DH_PAIRS_AD_HOC ? "  the flag of a waiting loop" : "");
    print_side(s, &pair->side[0]);
    if (pair->side[0].site == pair->side[1].site)
        fprintf(s->out, "    and the same, in another thread\n");
    else
        print_side(s, &pair->side[1]);
    if (dh_pairs_stands_for(s->pairs, pair) > 1)
        fprintf(
            s->out,
            "    a bundle: %u places like the first, each with %u like the second (--format=json has them)\n",
            s->pairs->lists[pair->alike[0]].n + 1, s->pairs->lists[pair->alike[1]].n + 1);
    if (why[0])
        fprintf(s->out, "    why: %s\n", why);
}

static void print_group(struct dh_static *s, const struct dh_static_group *g, bool summary)
{
    const struct dh_static_palette *c = dh_static_palette(s);
    bool most;
    u64 n = dh_static_pairs(s, g, &most);
    fprintf(s->out, "%s%s%s: %s%" PRIu64 " pair%s\n", c->title, dh_static_subject(s, g->variable), c->off,
            most ? "at most " : "", n, n == 1 ? "" : "s");
    if (summary)
        return;
    size_t shown = dh_static_shown(s, g);
    for (size_t i = 0; i < shown; i++, dh_static_forget(s))
        print_pair(s, g->pairs[i]);
    if (shown < g->n)
        fprintf(s->out, "\n  and %zu more (--limit=%zu)\n", g->n - shown, shown);
    fputc('\n', s->out);
}

void dh_static_print_text(struct dh_static *s, bool summary)
{
    if (s->pairs->no_threads) {
        fprintf(s->out, "%s: no thread is ever created\n", dh_text_shown(&s->arena, s->input));
        fprintf(s->out, "%s\n", dh_static_of_sentence(s));
        return;
    }
    for (size_t g = 0; g < s->n_groups; g++)
        print_group(s, &s->groups[g], summary);
    fprintf(s->out, "%s: %s\n", dh_text_shown(&s->arena, s->input), dh_static_total(s));
    fprintf(s->out, "%s\n", dh_static_of_sentence(s));
    u64 cases = 0;
    for (size_t i = 0; i < s->pairs->n_assumptions; i++)
        cases += s->pairs->assumptions[i].count;
    if (cases)
        fprintf(s->out,
                "It rests on assumptions that %" PRIu64 " place%s fall%s under; --stats lists them.\n", cases,
                cases == 1 ? "" : "s", cases == 1 ? "s" : "");
}

void dh_static_print_stats(struct dh_static *s)
{
    const struct dh_pairs *p = s->pairs;
    fputs("\nAssumed, and how many places of this program fall under it:\n", s->out);
    for (size_t i = 0; i < p->n_assumptions; i++) {
        const struct dh_pairs_assumption *a = &p->assumptions[i];
        fprintf(s->out, "  %6" PRIu64 "  %s: %s\n", a->count, a->name, a->sentence);
        size_t n;
        const u32 *examples = dh_pairs_items(p, a->examples, &n);
        for (size_t k = 0; k < n; k++)
            fprintf(s->out, "          %s\n", dh_pairs_string(p, examples[k]));
    }
    fputs("\nThe analysis:\n", s->out);
    for (size_t i = 0; i < p->n_phases; i++)
        fprintf(s->out, "  %8.3f s  %7.1f MiB  %s\n", (double)p->phases[i].microseconds * 1e-6,
                (double)p->phases[i].peak_kib / 1024, p->phases[i].name);
    for (size_t i = 0; i < p->n_counters; i++)
        fprintf(s->out, "  %10" PRIu64 "  %s\n", p->counters[i].value, p->counters[i].name);
}
