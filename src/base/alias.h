/*
 * alias.h - what an alias build, the command that runs it, and the compiler's plugin agree on
 * (docs/design/caper.md, "Dynamic alias analysis"; Caper and RaceChaser, CC 2017, section 7.2).
 *
 * An alias build (`deadheat cc --dh-mode=caper --dh-alias`) reports each access that is in a pair of the set
 * `sound`: its address, its size, and its index in the table of pairs (report/pairs.h). It has neither
 * questions nor barriers, and of base/caper.h's sections only a counterpart, DH_ALIAS_HEAD.
 *
 * The RUN FILE begins like that of Caper, with another magic. The header is followed by n_sites bytes,
 * written by the command: what the program needs to know about each site (DH_ALIAS_...); and then, at the
 * next multiple of 8, by pairs of sites, written by the program: each a word, dh_alias_pair(). The program
 * extends the file when it needs more space. A pair may occur more than once if the program forks; a word of
 * 0 is unused.
 */
#ifndef DH_BASE_ALIAS_H
#define DH_BASE_ALIAS_H

#include "base/caper.h"

#define DH_ALIAS_HEAD "dh_alias_head"
#define DH_ALIAS_RUN "DEADHEAT_ALIAS_RUN"

enum { DH_ALIAS_VERSION = 1 };

struct dh_alias_head {
    u32 version;
    u32 unused;
};

static const char dh_alias_run_magic[8] = "DHALIAS1";

struct dh_alias_run {
    struct dh_caper_run run; /* version: DH_ALIAS_VERSION; no groups */
    u32 n_sites;
    u32 unused;
    /* By the program; atomic. */
    u64 n_pairs;  /* words that are taken */
    u64 has_room; /* ... the file is long enough for this many */
};

enum {
    DH_ALIAS_WANTED = 1, /* the site is in a pair */
    DH_ALIAS_WRITES = 2, /* it writes, or frees */
};

/* Where the pairs begin. */
DH_INLINE u64 dh_alias_run_pairs(u64 n_sites)
{
    return DH_ALIGN_UP(sizeof(struct dh_alias_run) + n_sites, 8);
}

/* Of two sites in any order; never 0. */
DH_INLINE u64 dh_alias_pair(u32 a, u32 b)
{
    return a < b ? ((u64)a + 1) << 32 | (b + 1) : ((u64)b + 1) << 32 | (a + 1);
}

#endif
