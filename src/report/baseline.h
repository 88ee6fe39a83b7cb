/*
 * baseline.h - the findings that a team knows, as a file: what is in it is counted, and what is new is told.
 *
 * The file is a document of our own --format=json, race records, or a list: a fingerprint a line, where `#`
 * begins a comment. Fingerprints are all that is kept of it, and those of earlier recipes count as well.
 */
#ifndef DH_REPORT_BASELINE_H
#define DH_REPORT_BASELINE_H

#include "report/finding.h"

struct dh_baseline;

struct dh_baseline_error {
    char text[256]; /* one sentence, to follow a colon */
};

/* 0, or a negative errno with a sentence: -EINVAL for a file of none of these forms, -EFBIG for a file of
 * many megabytes. Any bytes are safe. Race records have no fingerprints, so their programs are looked at;
 * `warn` is told of those that cannot be. */
int dh_baseline_load(const char *path, dh_symbol_warn *warn, void *ctx, struct dh_baseline **ret,
                     struct dh_baseline_error *ret_err);
void dh_baseline_free(struct dh_baseline *b); /* NULL: nothing */

/* Says of the finding and of each of its variants whether it is known: the finding only if all of them are.
 * NULL: there is no baseline, and nothing is said. */
void dh_baseline_judge(const struct dh_baseline *b, struct dh_finding *f);

#endif
