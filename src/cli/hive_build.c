/*
 * hive_build.c - what `hive add` uploads from a program: its table of pairs, all of it or what a filter
 * leaves.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "caper/narrow.h"
#include "cli/cmd.h"
#include "cli/hive.h"
#include "util/lines.h"
#include "util/text.h"

enum { MOST_FILTER = 1 << 30 };

static int narrow(struct dh_cli_hive *c, const char *path, struct dh_caper_build *build)
{
    struct dh_caper_narrowed left;
    const char *why;
    char *text;
    size_t len;
    int rc = dh_lines_load(c->filter, MOST_FILTER, &text, &len);
    if (rc)
        return dh_cli_fail(c->command, "cannot read '%s': %s", c->filter, strerror(-rc));
    rc = dh_caper_narrow(build->bytes, build->n_bytes, text, &left, &why);
    free(text);
    if (rc)
        return dh_cli_fail(c->command, "'%s' %s", c->filter, why);
    build->bytes = (const u8 *)dh_arena_dup(&c->arena, (const char *)left.bytes, left.n_bytes);
    build->n_bytes = left.n_bytes;
    free(left.bytes);
    if (left.unknown)
        dh_cli_warn(c->command,
                    "'%s' does not know %" PRIu64 " of %" PRIu64
                    " accesses of '%s', whose pairs are left out: it is of other sources, or was compiled "
                    "otherwise",
                    c->filter, left.unknown, left.sites, path);
    printf("%s: %" PRIu64 " of %" PRIu64 " pairs are in dpPairs\n", dh_text_shown(&c->arena, path),
           left.after, left.before);
    return 0;
}

/* A table without code is that of a program that an earlier version linked, or without debug information. */
static void say_nothing_carried(struct dh_cli_hive *c, const char *path, const struct dh_caper_build *build)
{
    struct dh_pairs *table;
    const char *why;
    bool any = false;
    if (dh_pairs_read(build->bytes, build->n_bytes, &table, &why) != 0)
        return;
    for (size_t i = 0; i < table->n_sites && !any; i++)
        any = table->sites[i].code;
    if (table->n_sites && !any)
        dh_cli_warn(c->command,
                    "the table of '%s' does not say whether its functions have changed, so no verdicts are "
                    "carried over to or from it; compile it again with this version of deadheat",
                    path);
    dh_pairs_free(table);
}

int dh_cli_hive_build(struct dh_cli_hive *c, const char *path, struct dh_caper_build *ret)
{
    const char *why;
    if (dh_caper_build_bytes(&c->arena, path, ret, &why) != 0)
        return dh_cli_fail(c->command, "'%s' %s", path, why);
    say_nothing_carried(c, path, ret);
    if (!c->filter)
        return 0;
    c->style = c->style ? c->style : "sound"; /* of which dpPairs is a subset */
    return narrow(c, path, ret);
}

void dh_cli_hive_say_kept(const struct dh_cli_hive *c, bool is_new)
{
    if (c->filter && !is_new)
        dh_cli_warn(c->command,
                    "the build keeps the pairs that it was added with: to change them, forget it "
                    "('deadheat hive forget --build=ID') and add it again");
}
