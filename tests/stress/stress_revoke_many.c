/*
 * stress_revoke_many.c - stress_revoke.c with more threads than classes: while owners are at work, what goes with a
 * class of one's own ends.
 *
 * FLAGS: -Wl,--wrap=dh_report_race -Wl,--wrap=dh_ids_want_collection -Wl,--wrap=dh_runtime_count
 */
#define MANY 1
#include "stress_revoke.c"
