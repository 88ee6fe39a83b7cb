/*
 * trace_view.c - see trace_view.h. The views are the columns of table 2 of "Low-Level Detection of
 * Language-Level Data Races with LARD", and one more that the authors could not test: without thread
 * identity.
 */
#include "cli/trace_view.h"

#include <string.h>

const char dh_trace_view_names[] = "lard, allmem, allsync, noclear, nocopy, noidentity, naive";

int dh_trace_view_parse(const char *name, struct dh_dht_view *ret_view)
{
    static const struct {
        const char *name;
        struct dh_dht_view view;
    } views[] = {
        {"lard", {0}},
        {"allmem", {.system_accesses = true}},
        {"allsync", {.system_order = true}},
        {"noclear", {.no_clear = true}},
        {"nocopy", {.no_copy = true}},
        {"noidentity", {.no_identity = true}},
        {"naive", {true, true, true, true, true}},
    };
    for (size_t i = 0; i < DH_ARRAY_LEN(views); i++) {
        if (strcmp(name, views[i].name) == 0) {
            *ret_view = views[i].view;
            return 0;
        }
    }
    return -1;
}
