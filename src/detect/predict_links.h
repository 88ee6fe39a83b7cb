/*
 * predict_links.h - who reads and who writes an object (predict.h), in the order of the trace.
 *
 * Two lists of events by object, 4 bytes per event in total: what comes before and after an event is found by
 * binary search. Built on first use, since a trace without races does not need it.
 */
#ifndef DH_DETECT_PREDICT_LINKS_H
#define DH_DETECT_PREDICT_LINKS_H

#include "detect/predict.h"

/* The events of object o: events[first[o] .. first[o + 1]), ascending. */
struct dh_link_list {
    u32 *events;
    u32 *first;
};

struct dh_links {
    struct dh_link_list reads;  /* events that only see */
    struct dh_link_list writes; /* events that change what is seen */
};

/* False: no memory. */
bool dh_links_make(const struct dh_predict *p);

/* The place in the list of the first event of the object that is not before event e. */
u32 dh_links_from(const struct dh_link_list *list, u32 object, u32 e);

/* The last event before e that changed the object or what it is a copy of; DH_NONE: none. */
u32 dh_links_writer(const struct dh_predict *p, u32 object, u32 e);

#endif
