/*
 * baseline.h - the findings that a team knows, as a file: what is in it is counted, and what is new is told.
 *
 * The file is a document of our own --format=json, race records, or a list: a fingerprint a line, where `#`
 * begins a comment. Fingerprints and identities are all that is kept of it, and fingerprints of earlier
 * recipes count as well. A baseline remembers which of its entries were met: the others are fixed, or were
 * not seen this time.
 */
#ifndef DH_REPORT_BASELINE_H
#define DH_REPORT_BASELINE_H

#include "report/finding.h"

struct dh_baseline;

struct dh_baseline_error {
    char text[256]; /* one sentence, to follow a colon */
};

struct dh_baseline_entry {
    char hash[DH_FINGERPRINT_LENGTH + 1];
    const char *identity; /* the text that was hashed; NULL: a list does not say */
    bool seen;
};

/* What an update has done. */
struct dh_baseline_change {
    u64 added, removed, kept;
};

/* 0, or a negative errno with a sentence: -EINVAL for a file of none of these forms, -EFBIG for a file of
 * many megabytes. Any bytes are safe. Race records have no fingerprints, so their programs are looked at;
 * `warn` is told of those that cannot be. `update`: findings are remembered for dh_baseline_write, and a file
 * that does not exist is an empty one. */
int dh_baseline_load(const char *path, bool update, dh_symbol_warn *warn, void *ctx, struct dh_baseline **ret,
                     struct dh_baseline_error *ret_err);
void dh_baseline_free(struct dh_baseline *b); /* NULL: nothing */

/* Says of the finding and of each of its variants whether it is known: the finding only if all of them are.
 * NULL: there is no baseline, and nothing is said. */
void dh_baseline_judge(struct dh_baseline *b, struct dh_finding *f);
/* The entries that no finding has met, in order of their fingerprints; the list is good until the next call.
 */
size_t dh_baseline_unseen(struct dh_baseline *b, const struct dh_baseline_entry *const **ret);

/* Is it to be written when all findings are there? */
bool dh_baseline_is_updated(const struct dh_baseline *b);
/* Writes the findings that were judged, in order of their fingerprints, each on a line of its own, so that
 * the file depends on nothing else. keep: with the entries that none has met, because not everything was
 * looked at. 0, or -1 with the reason. */
int dh_baseline_write(struct dh_baseline *b, bool keep, struct dh_baseline_change *ret, const char **ret_why);

#endif
