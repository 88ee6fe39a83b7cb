/*
 * trace_model.h - races in a recording in the form that the report room uses: with stacks, locks, threads and
 * the memory involved.
 */
#ifndef DH_CLI_TRACE_MODEL_H
#define DH_CLI_TRACE_MODEL_H

#include "cli/trace_in.h"
#include "detect/detector.h"
#include "report/model.h"

/* A race to be reported in full. */
struct dh_trace_race {
    const struct dh_race *race;
    const struct dh_detector_ops *by;
    struct dh_model_race *ret; /* NULL: it could not be found again */
};

/* The module that contains an address of the recording, NULL if unknown, and the offset in it. r is the
 * recording, as far as it was read. */
void dh_trace_model_place(struct dh_trace_in *in, const struct dh_dht *r, u64 addr,
                          const struct dh_model_module **ret_module, u64 *ret_offset);

/* Reads the recording `in`, which was read completely, a second time, in the same view, and fills in `ret` of
 * each; all of them are part of `model`, and valid as long as both are. 0 or a negative errno: what was found
 * until then is filled in. */
int dh_trace_model(struct dh_trace_in *in, const struct dh_dht_view *view, struct dh_model *model,
                   struct dh_trace_race *races, size_t n);

#endif
