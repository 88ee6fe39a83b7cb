/*
 * baseline.h - a file of known findings: findings in it are only counted, new ones are reported.
 *
 * The file is a document written with --format=json, race records, or a list with one fingerprint per line,
 * in which `#` starts a comment. Only fingerprints and identities are kept; fingerprints of earlier versions
 * are accepted too. A baseline remembers which of its entries were found again: the others are fixed, or were
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
    const char *identity; /* the text that was hashed; NULL if the file is a list */
    bool seen;
};

/* What an update changed. */
struct dh_baseline_change {
    u64 added, removed, kept;
};

/* 0, or a negative errno with a sentence: -EINVAL for a file in none of these formats, -EFBIG for a file of
 * many megabytes. Any bytes are safe. Race records have no fingerprints, so their programs are symbolised;
 * `warn` is called for those that cannot be read. `update`: findings are remembered for dh_baseline_write,
 * and a file that does not exist counts as empty. */
int dh_baseline_load(const char *path, bool update, dh_symbol_warn *warn, void *ctx, struct dh_baseline **ret,
                     struct dh_baseline_error *ret_err);
void dh_baseline_free(struct dh_baseline *b); /* NULL: nothing */

/* Marks the finding and each of its variants as known or new; the finding is known only if all of them are.
 * b may be NULL: there is no baseline, and nothing is marked. */
void dh_baseline_judge(struct dh_baseline *b, struct dh_finding *f);
/* The entries that no finding matched, sorted by fingerprint; the list is valid until the next call.
 */
size_t dh_baseline_unseen(struct dh_baseline *b, const struct dh_baseline_entry *const **ret);

/* Is it to be written once all findings are known? */
bool dh_baseline_is_updated(const struct dh_baseline *b);
/* Writes the findings that were judged, sorted by fingerprint, one per line, so that the file depends on
 * nothing else. keep: also write the entries that no finding matched, because not everything was
 * examined. 0, or -1 with the reason. */
int dh_baseline_write(struct dh_baseline *b, bool keep, struct dh_baseline_change *ret, const char **ret_why);

#endif
