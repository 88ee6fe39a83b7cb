/*
 * bundle.h - self-contained records: findings with all names resolved, and the surrounding source lines.
 *
 * `deadheat report --resolve` writes such a file, and `deadheat report` reads it as it reads any other file
 * of records: process, counters and end lines are the same, and in place of modules, threads and races there
 * are findings and source lines (docs/design/race-record.md).
 */
#ifndef DH_REPORT_BUNDLE_H
#define DH_REPORT_BUNDLE_H

#include <jansson.h>
#include <stdio.h>

#include "report/group.h"
#include "report/source.h"

/* `seen`: has an entry for (group, process) for every process in which a race was seen. */
void dh_bundle_write(FILE *out, const struct dh_model *model, const struct dh_groups *groups,
                     const struct dh_map *seen, struct dh_source *source);
/* The finding in a line, or NULL if the line is not a finding. */
struct dh_finding *dh_bundle_read(struct dh_model *m, const struct dh_model_process *process,
                                  const json_t *object);

#endif
