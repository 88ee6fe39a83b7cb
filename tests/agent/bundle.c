/*
 * bundle.c TABLE - makes the pairs of a small program's table into one bundle, as those of a large program are: the
 * first side of the first pair, with all sites of the table.
 *
 * bundle.c TABLE apart - makes a bundle of an access of the first pair and one of a pair that has nothing in common with
 * it. The bundle is the only unit of the set relay; the pairs of the first variable stay in the set sound.
 */
#include <stdio.h>
#include <stdlib.h>

#include "report/pairs.h"
#include "util/lines.h"

static void bundle_all(struct dh_pairs *p, const struct dh_pairs_pair *pairs)
{
    u32 sites[64];
    size_t n = 0;
    for (u32 i = 0; i < p->n_sites && i < DH_ARRAY_LEN(sites); i++)
        if (i != pairs[0].side[1].site)
            sites[n++] = i;
    struct dh_pairs_pair bundle = pairs[0];
    bundle.alike[1] = dh_pairs_add_list(p, sites, n);
    dh_pairs_add_pair(p, &bundle);
}

static bool shares_site(const struct dh_pairs_pair *a, const struct dh_pairs_pair *b)
{
    return a->side[0].site == b->side[0].site || a->side[0].site == b->side[1].site ||
           a->side[1].site == b->side[0].site || a->side[1].site == b->side[1].site;
}

static bool bundle_apart(struct dh_pairs *p, const struct dh_pairs_pair *pairs, size_t n)
{
    size_t other = 0;
    while (other < n && shares_site(&pairs[0], &pairs[other]))
        other++;
    if (other == n)
        return false;
    struct dh_pairs_pair bundle = pairs[0];
    bundle.side[1] = pairs[other].side[0];
    bundle.alike[1] = dh_pairs_add_list(p, &bundle.side[1].site, 1); /* twice the same makes it a bundle */
    dh_pairs_add_pair(p, &bundle);
    for (size_t i = 0; i < n; i++) {
        struct dh_pairs_pair pair = pairs[i];
        if (!shares_site(&pairs[0], &pair)) /* the table must not grow */
            continue;
        pair.flags &= ~(u32)DH_PAIRS_RELAY;
        dh_pairs_add_pair(p, &pair);
    }
    return true;
}

int main(int argc, char **argv)
{
    char *bytes;
    u8 *out;
    size_t len, n, n_out;
    const char *why;
    struct dh_pairs *p;
    if (argc < 2 || dh_lines_load(argv[1], 1 << 24, &bytes, &len) != 0 ||
        dh_pairs_read(bytes, len, &p, &why) != 0)
        return 1;
    struct dh_pairs_pair *pairs = dh_pairs_take_pairs(p, &n);
    if (argc == 2)
        bundle_all(p, pairs);
    else if (!bundle_apart(p, pairs, n))
        return 1;
    dh_pairs_write(p, &out, &n_out);
    if (n_out > len || fwrite(out, 1, n_out, stdout) != n_out)
        return 1;
    for (; n_out < len; n_out++) /* what follows a table does not count */
        putchar(0);
    free(out);
    free(pairs);
    free(bytes);
    dh_pairs_free(p);
    return 0;
}
