/*
 * narrow.c - see narrow.h.
 *
 * dpPairs can be derived from a table and the sites that have escaped, so the file need not hold pairs.
 * Agents identify a bundle by its id, which is derived from all its sites: one with a large rest is kept
 * whole, and context inference finds out which of its pairs meet.
 */
#include "caper/narrow.h"

#include <stdlib.h>
#include <string.h>

#include "caper/sets.h"

/* Up to this many remaining pairs of a bundle become candidates of their own. One user tries one candidate at
 * a time, so many more would keep a crowd from the rest. */
enum { MOST_OF_BUNDLE = 64 };

enum { ID_DIGITS = 16, ESCAPED_COLUMN = 4, COLUMNS = 6 };

struct line {
    u64 id;
    bool escaped;
};

/* Parses a line up to its end. False: it is not a line of a filter. */
static bool read_line(const char *text, const char *end, struct line *ret)
{
    const char *column[COLUMNS + 1] = {text};
    size_t n = 1;
    char *after;
    for (const char *at = text; at < end; at++)
        if (*at == '\t' && n < COLUMNS + 1)
            column[n++] = at + 1;
    ret->id = strtoull(text, &after, 16);
    ret->escaped = n == COLUMNS && strncmp(column[ESCAPED_COLUMN], "yes\t", 4) == 0;
    return n == COLUMNS && after == text + ID_DIGITS &&
           (ret->escaped || strncmp(column[ESCAPED_COLUMN], "no\t", 3) == 0);
}

/* Marks in `known` the sites that the file has, and adds those that have escaped to the sets. */
static const char *read_filter(const char *text, struct dh_caper_sets *s, u64 *known)
{
    static const char head[] = "# deadheat caper filter ";
    if (strncmp(text, head, strlen(head)) != 0)
        return "is no filter: 'deadheat caper export --to=filter' writes one";
    if (strncmp(text + strlen(head), "1\n", 2) != 0)
        return "is a filter of another version of deadheat: write it again";
    for (const char *end; *text; text = end + 1) {
        struct line line;
        end = strchr(text, '\n');
        if (!end)
            return "was cut off in the middle of a line";
        if (*text == '#')
            continue;
        if (!read_line(text, end, &line))
            return "is damaged: a line is not one of a filter";
        u32 site = dh_pairs_find_site(s->table, line.id);
        if (site == DH_PAIRS_NONE)
            continue;
        known[site / 64] |= 1ull << site % 64;
        if (line.escaped)
            dh_caper_sets_add(s, site);
    }
    return NULL;
}

int dh_caper_narrow(const void *bytes, size_t len, const char *filter, struct dh_caper_narrowed *ret,
                    const char **ret_why)
{
    struct dh_pairs *table;
    struct dh_caper_sets s;
    *ret = (struct dh_caper_narrowed){0};
    if (dh_pairs_read(bytes, len, &table, ret_why) != 0) {
        *ret_why =
            "cannot be used: the program's table of pairs is damaged, or of another version of "
            "deadheat";
        return -1;
    }
    dh_caper_sets_init(&s, table);
    u64 *known = dh_util_alloc((s.words + 1) * sizeof(*known));
    memset(known, 0, (s.words + 1) * sizeof(*known));
    const char *why = read_filter(filter, &s, known);
    ret->sites = s.n_sites;
    ret->escaped = s.n_escaped;
    for (u32 i = 0; i < table->n_sites; i++)
        ret->unknown += dh_caper_has(s.in_pair, i) && !dh_caper_has(known, i);
    if (!why && ret->sites && ret->unknown == ret->sites)
        why = "knows no access of the program that is in a pair: it is of another program";
    if (!why) {
        struct dh_caper_count count = dh_caper_sets_count(&s);
        ret->before = count.sp + count.dp;
        ret->after = count.dp;
        dh_caper_choose_named(table, &s, MOST_OF_BUNDLE);
        dh_pairs_write(table, &ret->bytes, &ret->n_bytes);
    }
    free(known);
    dh_caper_sets_done(&s);
    dh_pairs_free(table);
    *ret_why = why;
    return why ? -1 : 0;
}
