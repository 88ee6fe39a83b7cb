/*
 * alias.h - what an alias build, the command that runs it, and the compiler's plugin agree on
 * (docs/design/caper.md, "Dynamic alias analysis"; Caper and RaceChaser, CC 2017, section 7.2).
 *
 * An alias build (`deadheat cc --dh-mode=caper --dh-alias`) tells of each access that is in a pair of the set
 * `sound`: where, how many bytes, and its index in the table of pairs (report/pairs.h). It has neither
 * questions nor barriers, and instead of base/caper.h's sections only DH_ALIAS_HEAD.
 *
 * The RUN FILE begins like that of Caper, with another magic. Behind the header are n_sites bytes, by the
 * command: what it is to know of each site (DH_ALIAS_...); and behind these, at the next multiple of 8, pairs
 * of sites, by the program: each a word, dh_alias_pair(). The program makes the file longer when it needs
 * room for more. A pair may be there more than once, if the program forks; a word that is 0 is none.
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
    u64 has_room; /* ... for so many the file is long enough */
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
