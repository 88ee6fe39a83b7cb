/*
 * cc_lto.c - the arguments of builds that are linked as one module: field and Caper builds, and those whose
 * needless checks are removed (--dh-prune) or can be switched off (--dh-filterable).
 *
 * Objects are compiled twice in one run: to ordinary ELF code, which ar, nm and libtool understand, and to
 * bitcode next to it (fat LTO objects). Programs are linked from the bitcode by lld, which loads our plugin:
 * it sees the whole program as one module (src/ir/embed.c, src/ir/prune.c). Shared objects, and the output of
 * -r, are linked from the ELF code: they are not whole programs. In a build with --dh-prune or
 * --dh-filterable that code has all its checks; in field and Caper builds it is plain.
 */
#include "cli/cc_args.h"

bool dh_cc_lto_wanted(const struct dh_cc_line *line)
{
    return dh_cc_is_field(line) || line->prune || line->filterable;
}

static void add_compile(const struct dh_cc_line *line, struct dh_cc_args *out)
{
    if (line->plain)
        return;
    dh_cc_args_add(out, "-flto=full");
    dh_cc_args_add(out, "-ffat-lto-objects");
}

/* Without debug information a site has no line and a field no name. It changes no code, and the user's own -g
 * options come later and win. The compiler may assume that a loop waiting for a plain variable ends, and
 * would remove it before the analysis sees that it races. */
void dh_cc_lto_before(const struct dh_cc_line *line, struct dh_cc_args *out)
{
    if (line->plain)
        return;
    dh_cc_args_add(out, "-g");
    dh_cc_args_add(out, "-fno-finite-loops");
}

/* Last, so that they override what a build system may have found out about linkers. */
void dh_cc_lto_after(const struct dh_cc_line *line, const char *plugin, struct dh_cc_args *out)
{
    bool program = line->links && !line->shared;
    add_compile(line, out);
    if (line->links || line->relocatable)
        dh_cc_args_add(out, "-fuse-ld=lld-19");
    if (!program)
        return;
    dh_cc_args_add(out, "-Wl,--fat-lto-objects");
    dh_cc_args_add(out, dh_arena_printf(out->arena, "-Wl,--load-pass-plugin=%s", plugin));
    /* Each file's bitcode is optimised already. If the program were optimised again as a whole, it would lose
     * accesses that the source has (a variable that nobody reads), and their races. In a Caper build the
     * analysis and the instrumentation must see the same accesses. */
    if (line->prune || line->filterable || line->mode == DH_CC_CAPER)
        dh_cc_args_add(out, "-Wl,--lto-O0,--lto-CGO2");
}
