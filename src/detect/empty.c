/*
 * empty.c - no analysis at all: what remains is the cost of reading and handing out events (FastTrack, CACM
 * 2010, section 4). In a running program what remains is the instrumentation (docs/design/lab.md).
 */
#include "detect/detector.h"

static void nothing(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    (void)d, (void)e, (void)thread, (void)cell;
}

const struct dh_detector_ops dh_detector_empty = {
    .name = "empty",
    .paper = "Flanagan, Freund: FastTrack (CACM 2010), section 4",
    .guarantee = DH_NO_GUARANTEE,
    .summary = "does nothing: the cost of delivering the events",
    .read = nothing,
    .write = nothing,
};
