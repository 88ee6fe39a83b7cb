/*
 * static_view.c - which pairs are shown, in which order.
 *
 * A pair is selected if it is in the result set of the style and not dropped by an assumption of the user's.
 * Selected pairs are grouped by their first variable. All orders depend only on the source, so that two
 * builds can be compared line by line.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/static.h"
#include "util/path.h"

/* Of the style, and not dropped by an assumption. */
static bool is_in_style(const struct dh_static *s, const struct dh_pairs_pair *pair)
{
    return (pair->flags & s->set) && !(dh_pairs_ifs(pair->flags, s->set) & s->assumed);
}

bool dh_static_chosen(const struct dh_static *s, const struct dh_pairs_pair *pair)
{
    return is_in_style(s, pair) && !(s->left_out && s->left_out[pair - s->pairs->pairs]);
}

/* By a rule, or because it is in the baseline. */
static void leave_out(struct dh_static *s)
{
    struct dh_pairs *p = s->pairs;
    if (!s->rules.rules && !s->baseline)
        return;
    s->left_out = dh_arena_array(&s->arena, p->n_pairs, sizeof(*s->left_out));
    s->from.alike = true;
    for (u32 i = 0; i < p->n_pairs; i++, dh_static_forget(s)) {
        if (!is_in_style(s, &p->pairs[i]))
            continue;
        struct dh_finding *f = dh_finding_of_pair(&s->from, &s->scratch, i);
        if (dh_finding_suppressed(f, &s->rules)) {
            s->left_out[i] = true;
            s->n_suppressed += dh_pairs_stands_for(p, &p->pairs[i]);
            continue;
        }
        dh_baseline_judge(s->baseline, f);
        s->n_known += f->baseline == DH_FINDING_KNOWN;
        s->left_out[i] = f->baseline == DH_FINDING_KNOWN && !s->has_known;
    }
}

static u32 first_variable(const struct dh_pairs *p, const struct dh_pairs_pair *pair)
{
    size_t n;
    const u32 *variables = dh_pairs_items(p, pair->variables, &n);
    return n ? variables[0] : DH_PAIRS_NONE;
}

/* ---- Orders: qsort_r with the table or the view -------------------------------------------------------- */

static int compare_numbers(u64 a, u64 b)
{
    return (a > b) - (a < b);
}

static int compare_places(const struct dh_pairs_place *a, const struct dh_pairs_place *b)
{
    int c = strverscmp(a->file, b->file); /* f2.c before f10.c */
    c = c ? c : compare_numbers(a->line, b->line);
    return c ? c : compare_numbers(a->column, b->column);
}

static int compare_pairs(const void *left, const void *right, void *arg)
{
    const struct dh_pairs *p = arg;
    const struct dh_pairs_pair *a = &p->pairs[*(const u32 *)left], *b = &p->pairs[*(const u32 *)right];
    for (int i = 0; i < 2; i++) {
        int c = compare_places(&p->sites[a->side[i].site].at, &p->sites[b->side[i].site].at);
        if (c)
            return c;
    }
    return compare_numbers(a->id, b->id);
}

static int compare_groups(const void *left, const void *right, void *arg)
{
    struct dh_static *s = arg;
    const struct dh_pairs *p = s->pairs;
    const struct dh_static_group *a = left, *b = right;
    if (a->variable == DH_PAIRS_NONE || b->variable == DH_PAIRS_NONE)
        return (a->variable == DH_PAIRS_NONE) - (b->variable == DH_PAIRS_NONE);
    const struct dh_pairs_variable *v = &p->variables[a->variable], *w = &p->variables[b->variable];
    int c = compare_numbers(v->storage, w->storage);
    c = c ? c
          : strverscmp(v->storage == DH_PAIRS_HEAP ? v->type : dh_finding_readable(&s->from, v->name),
                       w->storage == DH_PAIRS_HEAP ? w->type : dh_finding_readable(&s->from, w->name));
    c = c ? c : strverscmp(v->path, w->path);
    c = c ? c : compare_places(&v->at, &w->at);
    return c ? c : compare_numbers(a->variable, b->variable);
}

/* ---- Groups -------------------------------------------------------------------------------------------- */

/* Counts the selected pairs of each variable, allocates space, and fills it: the last counter is for those
 * whose variable is not known. */
static void group(struct dh_static *s)
{
    const struct dh_pairs *p = s->pairs;
    size_t slots = p->n_variables + 1;
    struct dh_static_group *all = dh_arena_array(&s->arena, slots, sizeof(*all));
    u32 *room = dh_arena_array(&s->arena, s->n_shown, sizeof(*room));
    for (size_t i = 0; i < p->n_pairs; i++)
        if (dh_static_chosen(s, &p->pairs[i])) {
            u32 v = first_variable(p, &p->pairs[i]);
            all[v == DH_PAIRS_NONE ? slots - 1 : v].n++;
        }
    for (size_t v = 0; v < slots; v++) {
        all[v].variable = v < slots - 1 ? (u32)v : DH_PAIRS_NONE;
        all[v].pairs = room;
        room += all[v].n;
        all[v].n = 0;
    }
    for (size_t i = 0; i < p->n_pairs; i++)
        if (dh_static_chosen(s, &p->pairs[i])) {
            u32 v = first_variable(p, &p->pairs[i]);
            struct dh_static_group *g = &all[v == DH_PAIRS_NONE ? slots - 1 : v];
            g->pairs[g->n++] = (u32)i;
        }
    s->groups = all;
    for (size_t v = 0; v < slots; v++)
        if (all[v].n)
            s->groups[s->n_groups++] = all[v];
}

u32 dh_static_assumed(const struct dh_static *s, u32 set)
{
    return (set == DH_PAIRS_RELAY ? DH_PAIRS_RELAY_ASSUMES & ~s->less : 0) | s->more;
}

/* What the other style would show, with the same options. */
static void count_other(struct dh_static *s)
{
    const struct dh_pairs *p = s->pairs;
    u32 other = s->set == DH_PAIRS_RELAY ? DH_PAIRS_SOUND : DH_PAIRS_RELAY,
        assumed = dh_static_assumed(s, other);
    if (s->bundled && assumed == (other == DH_PAIRS_RELAY ? DH_PAIRS_RELAY_ASSUMES : 0)) {
        s->n_other =
            dh_pairs_counter(p, other == DH_PAIRS_RELAY ? DH_PAIRS_COUNT_RELAY : DH_PAIRS_COUNT_SOUND);
        return;
    }
    for (size_t i = 0; i < p->n_pairs; i++)
        if ((p->pairs[i].flags & other) && !(dh_pairs_ifs(p->pairs[i].flags, other) & assumed))
            s->n_other += dh_pairs_stands_for(p, &p->pairs[i]);
    s->other_most = s->bundled;
}

void dh_static_select(struct dh_static *s)
{
    const struct dh_pairs *p = s->pairs;
    leave_out(s);
    for (size_t i = 0; i < p->n_pairs; i++) {
        u32 flags = p->pairs[i].flags;
        u64 n = dh_pairs_stands_for(p, &p->pairs[i]);
        s->n_shown += dh_static_chosen(s, &p->pairs[i]);
        s->n_dropped += (flags & s->set) && (dh_pairs_ifs(flags, s->set) & s->assumed) ? n : 0;
        s->bundled |= n > 1;
    }
    count_other(s);
    group(s);
    for (size_t g = 0; g < s->n_groups; g++)
        qsort_r(s->groups[g].pairs, s->groups[g].n, sizeof(u32), compare_pairs, s->pairs);
    qsort_r(s->groups, s->n_groups, sizeof(*s->groups), compare_groups, s);
}

static u64 sum(const struct dh_static *s, const struct dh_static_group *g)
{
    u64 n = 0;
    for (size_t i = 0; i < g->n; i++)
        n += dh_pairs_stands_for(s->pairs, &s->pairs->pairs[g->pairs[i]]);
    return n;
}

u64 dh_static_pairs(const struct dh_static *s, const struct dh_static_group *g, bool *ret_most)
{
    bool relay = s->set == DH_PAIRS_RELAY;
    *ret_most = false;
    if (!s->bundled)
        return g ? g->n : s->n_shown;
    if (!g && !s->n_suppressed && (!s->n_known || s->has_known) &&
        s->assumed == (relay ? DH_PAIRS_RELAY_ASSUMES : 0))
        return dh_pairs_counter(s->pairs, relay ? DH_PAIRS_COUNT_RELAY : DH_PAIRS_COUNT_SOUND);
    u64 n = 0;
    for (size_t i = 0; i < (g ? 1 : s->n_groups); i++)
        n += sum(s, g ? g : &s->groups[i]);
    *ret_most = true;
    return n;
}

/* ---- One pair, by a name that a person types ------------------------------------------------------------
 */

/* Does "FILE:LINE" mean this place? FILE may be the end of its path. */
static bool means(struct dh_static *s, const char *text, size_t len, const struct dh_pairs_place *at)
{
    const char *whole =
        dh_arena_printf(&s->scratch, "/%s:%u", dh_path_join(&s->scratch, at->dir, at->file), at->line);
    size_t n = strlen(whole);
    return len > 0 && len < n && whole[n - len - 1] == '/' && memcmp(whole + n - len, text, len) == 0;
}

/* For each site: does a name mean it? */
static bool *meant(struct dh_static *s, const char *text, size_t len)
{
    bool *all = dh_arena_array(&s->arena, s->pairs->n_sites + 1, sizeof *all);
    for (size_t i = 0; i < s->pairs->n_sites; i++, dh_static_forget(s))
        all[i] = means(s, text, len, &s->pairs->sites[i].at);
    return all;
}

/* The first site of a side that is marked, or DH_PAIRS_NONE. */
static u32 marked(const struct dh_pairs *p, const struct dh_pairs_pair *pair, int side, const bool *marks)
{
    size_t n;
    const u32 *more = dh_pairs_items(p, pair->alike[side], &n);
    if (marks[pair->side[side].site])
        return pair->side[side].site;
    for (size_t i = 0; i < n; i++)
        if (marks[more[i]])
            return more[i];
    return DH_PAIRS_NONE;
}

static u32 find_by_places(struct dh_static *s, const char *name, const char *comma)
{
    const struct dh_pairs *p = s->pairs;
    const char *second = comma + 1;
    const bool *first = meant(s, name, (size_t)(comma - name)), *other = meant(s, second, strlen(second));
    u32 found = DH_PAIRS_NONE;
    for (u32 i = 0; i < p->n_pairs; i++) {
        const struct dh_pairs_pair *pair = &p->pairs[i];
        bool chosen = dh_static_chosen(s, pair);
        for (int turn = 0; turn < 2 && (chosen || found == DH_PAIRS_NONE); turn++) {
            u32 a = marked(p, pair, 0, turn ? other : first), b = marked(p, pair, 1, turn ? first : other);
            if (a == DH_PAIRS_NONE || b == DH_PAIRS_NONE)
                continue;
            found = i;
            s->place[0] = a;
            s->place[1] = b;
            if (chosen)
                return found;
        }
    }
    return found;
}

bool dh_static_has(struct dh_static *s, const char *places)
{
    u32 found = find_by_places(s, places, strchr(places, ','));
    return found != DH_PAIRS_NONE && dh_static_chosen(s, &s->pairs->pairs[found]);
}

/* An id is 16 hexadecimal digits; a unique prefix is enough. */
static u32 find_by_id(struct dh_static *s, const char *name)
{
    u32 found = DH_PAIRS_NONE;
    for (u32 i = 0; i < s->pairs->n_pairs; i++) {
        char id[17];
        snprintf(id, sizeof(id), "%016" PRIx64, s->pairs->pairs[i].id);
        if (strncmp(id, name, strlen(name)) != 0)
            continue;
        if (found != DH_PAIRS_NONE)
            return DH_PAIRS_NONE;
        found = i;
    }
    return found;
}

u32 dh_static_find(struct dh_static *s, const char *name)
{
    enum { SHORTEST_ID = 8 };
    const char *digits = name + (name[0] == 'P' || name[0] == 'p'), *comma = strchr(name, ',');
    size_t n = strspn(digits, "0123456789");
    u32 found = DH_PAIRS_NONE;
    s->place[0] = s->place[1] = DH_PAIRS_NONE;
    if (comma) {
        found = find_by_places(s, name, comma);
    } else if (n && !digits[n] && n < SHORTEST_ID) {
        unsigned long number = strtoul(digits, NULL, 10);
        if (number >= 1 && number <= s->pairs->n_pairs)
            found = (u32)number - 1;
    } else if (strlen(name) >= SHORTEST_ID && strspn(name, "0123456789abcdef") == strlen(name)) {
        found = find_by_id(s, name);
    }
    if (found == DH_PAIRS_NONE)
        dh_cli_fail("static",
                    "there is no pair '%s' among the %zu of '%s'; name it by its number (P12), its id, or "
                    "FILE:LINE,FILE:LINE",
                    name, s->pairs->n_pairs, s->input);
    return found;
}
