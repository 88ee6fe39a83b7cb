/*
 * bundle.c TABLE - makes the pairs of a small program's table into one bundle, as those of a large program are: the
 * first side of the first pair, with all sites of the table.
 */
#include <stdio.h>
#include <stdlib.h>

#include "report/pairs.h"
#include "util/lines.h"

int main(int argc, char **argv)
{
    char *bytes;
    u8 *out;
    size_t len, n, n_out, n_sites = 0;
    u32 sites[64];
    const char *why;
    struct dh_pairs *p;
    if (argc != 2 || dh_lines_load(argv[1], 1 << 24, &bytes, &len) != 0 ||
        dh_pairs_read(bytes, len, &p, &why) != 0)
        return 1;
    struct dh_pairs_pair *pairs = dh_pairs_take_pairs(p, &n);
    for (u32 i = 0; i < p->n_sites && i < DH_ARRAY_LEN(sites); i++)
        if (i != pairs[0].side[1].site)
            sites[n_sites++] = i;
    struct dh_pairs_pair bundle = pairs[0];
    bundle.alike[1] = dh_pairs_add_list(p, sites, n_sites);
    dh_pairs_add_pair(p, &bundle);
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
