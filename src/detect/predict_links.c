/*
 * predict_links.c - see predict_links.h.
 */
#include "detect/predict_links.h"

/* The list an event is in; NULL: none. A check is in none: a detector that takes each of two accesses for the
 * later one would report it with what came after it. */
static struct dh_link_list *list_of(const struct dh_predict *p, const struct dh_event *e)
{
    enum dh_effect effect = dh_predict_effect(p, e);
    if (effect == DH_EFFECT_NONE || dh_event_is_check(e))
        return NULL;
    return dh_effect_changes(effect) ? &p->links->writes : &p->links->reads;
}

/* Counts are one place ahead, so that filling the list in turns them into beginnings. */
static bool make_lists(const struct dh_predict *p, struct dh_links *links)
{
    struct dh_detector *d = p->d;
    size_t firsts = ((size_t)p->objects + 2) * sizeof(u32);
    links->reads.first = dh_detect_alloc(d, firsts);
    links->writes.first = dh_detect_alloc(d, firsts);
    if (d->failed)
        return false;
    for (u32 i = 0; i < p->n; i++) {
        struct dh_link_list *list = list_of(p, &p->trace->events[i]);
        if (list)
            list->first[p->object[i] + 2]++;
    }
    for (u32 o = 0; o < p->objects; o++) {
        links->reads.first[o + 2] += links->reads.first[o + 1];
        links->writes.first[o + 2] += links->writes.first[o + 1];
    }
    links->reads.events = dh_detect_alloc(d, ((size_t)links->reads.first[p->objects + 1] + 1) * sizeof(u32));
    links->writes.events =
        dh_detect_alloc(d, ((size_t)links->writes.first[p->objects + 1] + 1) * sizeof(u32));
    return !d->failed;
}

bool dh_links_make(const struct dh_predict *p)
{
    struct dh_links *links = p->links;
    if (links->writes.events)
        return true;
    if (!make_lists(p, links))
        return false;
    for (u32 i = 0; i < p->n; i++) {
        struct dh_link_list *list = list_of(p, &p->trace->events[i]);
        if (list)
            list->events[list->first[p->object[i] + 1]++] = i;
    }
    return true;
}

u32 dh_links_from(const struct dh_link_list *list, u32 object, u32 e)
{
    u32 low = list->first[object], high = list->first[object + 1];
    while (low < high) {
        u32 mid = low + (high - low) / 2;
        if (list->events[mid] < e)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

u32 dh_links_writer(const struct dh_predict *p, u32 object, u32 e)
{
    const struct dh_link_list *writes = &p->links->writes;
    for (u32 o = object; o != DH_NONE; o = p->parent[o]) {
        u32 at = dh_links_from(writes, o, e);
        if (at > writes->first[o])
            return writes->events[at - 1];
    }
    return DH_NONE;
}
