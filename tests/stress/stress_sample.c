/*
 * stress_sample.c - stress_oracle.c with sampling periods: random programs, parts of which are sampled.
 *
 * FLAGS: -Wl,--wrap=dh_report_race -Wl,--wrap=dh_ids_want_collection
 */
#define SAMPLED 1
#include "stress_oracle.c"
