/*
 * static_explain.c - one pair at length: where, with which locks, in which threads, why it is thought
 * possible, and what would drop it.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/static.h"
#include "util/path.h"
#include "util/text.h"

enum { CONTEXT = 2 };

static void print_excerpt(struct dh_static *s, const struct dh_pairs_place *at)
{
    const struct dh_static_palette *c = dh_static_palette(s);
    for (int d = -CONTEXT; d <= CONTEXT; d++) {
        struct dh_pairs_place here = *at;
        if (d < 0 && at->line <= (u32)-d)
            continue;
        here.line = at->line + (u32)d;
        struct dh_source_line line;
        const char *path = dh_path_join(&s->scratch, at->dir[0] ? at->dir : NULL, at->file);
        if (!at->file[0] || !dh_source_line(&s->source, path, (int)here.line, &line))
            continue;
        fprintf(s->out, "    %s%s %5u |%s ", d ? c->dim : c->strong, d ? " " : ">", here.line, c->off);
        dh_text_put_line(s->out, line.text, line.len < 160 ? line.len : 160);
        fputc('\n', s->out);
    }
}

static void print_locks(struct dh_static *s, u32 locks)
{
    size_t n;
    const u32 *held = dh_pairs_items(s->pairs, locks, &n);
    if (!n)
        fputs("  It is not sure to hold any lock.\n", s->out);
    for (size_t i = 0; i < n; i++) {
        const struct dh_pairs_lock *l = &s->pairs->locks[dh_pairs_held_lock(held[i])];
        const char *place = dh_static_place(s, &l->at);
        fprintf(s->out, "  It always holds `%s`%s%s%s%s.\n", dh_static_lock(s, l),
                dh_pairs_held_shared(held[i]) ? " for reading" : "", place[0] ? ", from " : "", place,
                l->single ? "" : ", one of many such locks");
    }
}

static void print_entries(struct dh_static *s, u32 entries)
{
    size_t n;
    const u32 *at = dh_pairs_items(s->pairs, entries, &n);
    if (!n)
        fputs("  It is not known which threads run it.\n", s->out);
    for (size_t i = 0; i < n; i++)
        fprintf(s->out, "  It is run by %s.\n", dh_static_entry(s, at[i]));
}

static void print_side(struct dh_static *s, const char *title, const struct dh_pairs_side *side)
{
    const struct dh_static_palette *c = dh_static_palette(s);
    const struct dh_pairs_site *site = &s->pairs->sites[side->site];
    const char *place = dh_static_place(s, &site->at);
    fprintf(s->out, "\n%s%s: %s%s in %s", c->strong, title, dh_static_access(s, site), c->off,
            dh_static_function(s, site->function));
    if (place[0])
        fprintf(s->out, " at %s%s%s", c->place, place, c->off);
    if (site->host[0])
        fprintf(s->out, ", inlined into %s", dh_static_name(s, site->host));
    fprintf(s->out, " %s(site %016" PRIx64 ")%s\n", c->dim, site->id, c->off);
    print_excerpt(s, &site->at);
    print_locks(s, side->locks);
    print_entries(s, side->entries);
}

static void print_sets(struct dh_static *s, const struct dh_pairs_pair *pair)
{
    static const struct {
        u32 flag;
        const char *sentence;
    } facts[] = {
        {DH_PAIRS_RELAY, "It is in the style relay: the sides hold no lock in common."},
        {DH_PAIRS_SOUND, "It is in the style sound: nothing rules it out."},
        {DH_PAIRS_AD_HOC,
         "The program waits in a loop for this flag to change: ad-hoc synchronisation, which "
         "is a race on the flag itself unless it is atomic."},
        {DH_PAIRS_IF_BARRIERS,
         "--assume=barriers drops it: barriers keep the two apart, if all threads of a "
         "kind take part in them."},
        {DH_PAIRS_IF_PARTITION,
         "--assume=partition drops it: each thread uses its own part of the array, if "
         "no two have the same index."},
        {DH_PAIRS_IF_PUBLISHED,
         "Assuming `published` drops it, as relay does: one side initialises the object, if that is "
         "done before others can see it."},
        {DH_PAIRS_IF_OWNED,
         "Assuming `owned` drops it, as relay does: the object is handed from thread to thread, if whoever "
         "takes it out of a container, under its lock, has it alone."},
        {DH_PAIRS_IF_EXIT,
         "Assuming `exit` drops it, as relay does: one side runs when the program ends, if the other threads "
         "are done by then."},
        {DH_PAIRS_IF_CALLBACKS,
         "Assuming `callbacks` drops it, as relay does: one side is called by code outside the program, if "
         "such "
         "code calls nothing back once it has returned."},
        {DH_PAIRS_IF_MEMBERS,
         "Assuming `members` drops it, as relay does: the two sides are to different members, or to members "
         "of unrelated structures, if the pointers point to what they are declared to point to."},
    };
    for (size_t i = 0; i < DH_ARRAY_LEN(facts); i++)
        if (((pair->flags & ~(u32)DH_PAIRS_IFS) | dh_pairs_ifs(pair->flags, s->set)) & facts[i].flag)
            fprintf(s->out, "  %s\n", facts[i].sentence);
    if (!(pair->flags & DH_PAIRS_RELAY))
        fputs("  It is not in the style relay, which trusts more: locks of the same name, joins in loops.\n",
              s->out);
}

void dh_static_explain(struct dh_static *s, u32 number)
{
    const struct dh_static_palette *c = dh_static_palette(s);
    const struct dh_pairs *p = s->pairs;
    const struct dh_pairs_pair *pair = &p->pairs[number];
    size_t n;
    const u32 *variables = dh_pairs_items(p, pair->variables, &n);
    fprintf(s->out, "%sP%u%s, pair %s of %s, on %s\n", c->title, number + 1, c->off,
            dh_static_pair_id(s, pair), dh_text_shown(&s->arena, s->input),
            dh_static_subject(s, n ? variables[0] : DH_PAIRS_NONE));
    for (size_t i = 1; i < n; i++)
        fprintf(s->out, "  or on %s\n", dh_static_subject(s, variables[i]));
    struct dh_pairs_side side[2] = {pair->side[0], pair->side[1]};
    for (int i = 0; i < 2 && s->place[0] != DH_PAIRS_NONE; i++)
        side[i].site = s->place[i];
    print_side(s, "One side", &side[0]);
    if (side[0].site == side[1].site)
        fputs("\nThe other side is the same place, in another thread.\n", s->out);
    else
        print_side(s, "The other side", &side[1]);
    u64 many = dh_pairs_stands_for(p, pair);
    if (many > 1)
        fprintf(s->out,
                "\nThe same is true of %" PRIu64 " pairs of places: %u like the first, each with %u.\n", many,
                p->lists[pair->alike[0]].n + 1, p->lists[pair->alike[1]].n + 1);
    fprintf(s->out, "\n%sWhy it is thought possible%s\n", c->strong, c->off);
    for (u32 bit = 1; bit <= DH_PAIRS_REASONS; bit <<= 1)
        if (pair->reasons & bit)
            fprintf(s->out, "  - %s\n", dh_pairs_reason(bit));
    if (pair->note[0])
        fprintf(s->out, "  - %s\n", pair->note);
    fprintf(s->out, "\n%sWhere it stands%s\n", c->strong, c->off);
    print_sets(s, pair);
    fprintf(s->out, "  %s\n", dh_static_of_sentence(s));
}
