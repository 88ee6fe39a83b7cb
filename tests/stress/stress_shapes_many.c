/*
 * stress_shapes_many.c - stress_shapes.c with more threads than classes: in the middle of each program threads begin
 * to share read planes, and what goes with a class of one's own ends.
 *
 * FLAGS: -Wl,--wrap=dh_report_race -Wl,--wrap=dh_ids_want_collection -Wl,--wrap=dh_runtime_count
 */
#define MANY 1
#include "stress_shapes.c"
