/*
 * caper.h - what a Caper build, the command that runs it, and the compiler's plugin agree on
 * (docs/design/caper.md).
 *
 * A Caper build (`deadheat cc --dh-mode=caper`) asks at its accesses whether the memory has escaped from the
 * thread that allocated it. Accesses are grouped: one question covers accesses to one block in a stretch of
 * code. A question is a five-byte nop in the code, which becomes a jump to the question if the command wants
 * it asked.
 *
 * In the program (all loaded and read-only; written by src/ir/caper, read by src/field/escape and src/caper):
 *   DH_CAPER_QUESTIONS  struct dh_patch_point (base/patch.h), which lead to the code that asks
 *   DH_CAPER_GROUPS     u32 words: for each group in order, the number of its sites, and their indexes in the
 *                       table of pairs (report/pairs.h)
 *   DH_CAPER_HEAD       struct dh_caper_head
 *
 * Between the command and the program: one file for each run, the RUN FILE, whose name is in the environment
 * (DH_CAPER_RUN). The command creates it, with the questions to ask; the program maps it shared and writes
 * the answers, so nothing is lost however the program ends; the command merges it into the state and removes
 * it.
 */
#ifndef DH_BASE_CAPER_H
#define DH_BASE_CAPER_H

#include "base/patch.h"
#include "base/program.h"

/* Names that are C identifiers: the linker defines __start_NAME and __stop_NAME for such a section, by which
 * the program finds it. A linker that garbage-collects sections must be told to keep them (flag "R"). */
#define DH_CAPER_QUESTIONS "dh_caper_questions"
#define DH_CAPER_GROUPS "dh_caper_groups"
#define DH_CAPER_HEAD "dh_caper_head"
#define DH_CAPER_RUN "DEADHEAT_CAPER_RUN"

enum {
    DH_CAPER_VERSION = 1,
    DH_CAPER_BUILD_ID = DH_PROGRAM_BUILD_ID,
};

struct dh_caper_head {
    u32 version;
    u32 n_groups;
    u64 n_group_words; /* of DH_CAPER_GROUPS */
};

/* Rules of the library that a test disables at link time: bits of a word that the plugin then defines in the
 * program (DEADHEAT_CAPER_WITHOUT, ir/caper/rules.def). */
#define DH_CAPER_WITHOUT "__dh_esc_without"
enum dh_caper_without {
    DH_CAPER_WITHOUT_TRANSITIVE = 1,
    DH_CAPER_WITHOUT_INTERIOR = 2,
    DH_CAPER_WITHOUT_TAGS = 4,
};

/* ---- The run file ---- */

static const char dh_caper_run_magic[8] = "DHCAPER1";

/* Followed by n_groups bytes `wanted` (0, 1), written by the command, and n_groups bytes `escaped` (0, 1),
 * written by the program. */
struct dh_caper_run {
    char magic[8];
    u32 version;
    u32 n_groups;
    u8 build_id[DH_CAPER_BUILD_ID]; /* the program's, padded with zeros */
    u32 flags;                      /* DH_CAPER_..., by the command */
    /* By the program. */
    u32 started;   /* processes that have mapped the file */
    u32 ended;     /* ... and ended normally */
    u64 tracked;   /* blocks that began unescaped */
    u64 escapes;   /* blocks that escaped */
    u64 untracked; /* blocks not tracked, for lack of shadow or due to alignment: they count as escaped */
    u64 trouble;   /* enum dh_caper_trouble bits */
};

enum {
    DH_CAPER_TRACK = 1, /* blocks begin unescaped; without it all memory counts as escaped */
};

enum dh_caper_trouble {
    DH_CAPER_NO_SHADOW = 1,   /* the shadow could not be reserved: all memory counted as escaped */
    DH_CAPER_NO_PATCH = 2,    /* the code could not be patched: nothing was asked, so the run proves
                               * nothing */
    DH_CAPER_OTHER_BUILD = 4, /* the file is of another build: the same */
    DH_CAPER_FULL = 8,        /* alias builds: incomplete, for lack of memory or space in the file */
    DH_CAPER_COROUTINES = 16, /* the program makes coroutines: all memory counted as escaped from then on */
};

DH_INLINE u64 dh_caper_run_size(u64 n_groups)
{
    return sizeof(struct dh_caper_run) + 2 * n_groups;
}

/* ---- The shadow: one byte for 16 bytes of memory ----
 *
 * At DH_CAPER_SHADOW + (address >> 4). 0: escaped, or nothing is known: the start for all memory. Else the 16
 * bytes, a grain, belong to a block of the heap that only the thread that allocated it can reach:
 *   - DH_CAPER_FIRST + owner at its first grain. The owner is a number that no two threads have at a time.
 *     What looks like a pointer into the block of another thread is none, and must be left alone: the other
 *     may be writing that shadow now.
 *   - DH_CAPER_NEAR + a digit at the seven grains behind it. Together the digits, of three bits, say how many
 *     grains the block has: the first is that number less one; or it is 0, and the other six are the number,
 *     the lowest digit first. All are 0 if it does not fit.
 *   - DH_CAPER_FAR + k at grains that are at least 8 * 8^k behind the first, with the largest k possible. So
 *     the beginning of a block is found in a few steps from anywhere in it.
 * DH_CAPER_OPEN is added at the last grain if what lies behind it may be the block's: the rest of a block
 * that does not end with a grain, or the pointer just behind its end.
 * DH_CAPER_HOLDS is added at the first grain once the program has stored something into the block that may be
 * a pointer to a private block: only then is it scanned when it escapes. It is also added at the grain that
 * was stored to, which saves the next store there from looking for the first.
 * The base fits into the displacement of an instruction. Addresses of user space have 47 bits. */
#define DH_CAPER_SHADOW 0x7fff8000ul
#ifndef DH_CAPER_SHADOW_SIZE /* bench/caper --count has less, to fit under valgrind */
#define DH_CAPER_SHADOW_SIZE (1ul << 43)
#endif
enum {
    DH_CAPER_GRAIN = 16,
    DH_CAPER_NEAR = 1,
    DH_CAPER_FAR = DH_CAPER_NEAR + 8,
    DH_CAPER_FIRST = DH_CAPER_FAR + 7,
    DH_CAPER_OPEN = 0x80,
    DH_CAPER_HOLDS = 0x40,
    DH_CAPER_FLAGS = DH_CAPER_OPEN | DH_CAPER_HOLDS,
    DH_CAPER_OWNERS = DH_CAPER_HOLDS - DH_CAPER_FIRST,
};

#endif
