/*
 * filter.h - what a full build whose checks can be switched off (`deadheat cc --dh-filterable`), the command
 * that runs it (`deadheat run --filter=STATE`) and the compiler's plugin agree on (docs/design/filter.md).
 *
 * Each check, and each test that covers several, is preceded by a nop, which becomes a jump over it if the
 * command says so. A check covers accesses. An access is one or several sites of the set `sound`; or it is
 * known not to race; or nothing is known about it, and the check stays.
 *
 * In the program (all loaded and read-only; written by src/ir/filter.c, read by src/runtime/filter.c and
 * src/caper/filter.c):
 *   DH_FILTER_POINTS  struct dh_patch_point (base/patch.h), which lead behind the check; a group each
 *   DH_FILTER_GROUPS  u32 words: for each group in order, DH_FILTER_STAYS and the number of its sites, and
 *                     their indexes in DH_FILTER_SITES
 *   DH_FILTER_SITES   u64: the ids of sites (report/pairs.h)
 *   DH_FILTER_HEAD    struct dh_filter_head
 *   DH_SOURCES        text, also in Caper builds: the files that the code is from, a line each: the MD5 of
 *                     what was compiled, as 32 hexadecimal digits, a blank, and the name in the debug
 *                     information
 *
 * Between the command and the program: DH_FILTER_ENV in the environment,
 *   1:BUILD-ID:GROUPS:RACE-FREE:UNESCAPED:BITS
 * with the build id as 40 hexadecimal digits (as many as there are, then zeros), the number of groups, the
 * numbers of those that are switched off for either reason, in decimal, and a letter for each six groups:
 * DH_FILTER_LETTERS[bits], the first group lowest. A program with another build id is not meant, and does
 * not heed it.
 */
#ifndef DH_BASE_FILTER_H
#define DH_BASE_FILTER_H

#include "base/patch.h"
#include "base/program.h"

#define DH_FILTER_POINTS "dh_filter_points"
#define DH_FILTER_GROUPS "dh_filter_groups"
#define DH_FILTER_SITES "dh_filter_sites"
#define DH_FILTER_HEAD "dh_filter_head"
#define DH_SOURCES ".deadheat.sources"
#define DH_FILTER_ENV "DEADHEAT_FILTER"
#define DH_FILTER_LETTERS "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+-"

enum { DH_FILTER_VERSION = 1, DH_FILTER_BITS = 6 /* in a letter */ };
#define DH_FILTER_STAYS 0x80000000u

struct dh_filter_head {
    u32 version;
    u32 n_groups;
    u32 n_sites;
    u32 n_group_words;
};

#endif
