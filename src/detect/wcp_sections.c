/*
 * wcp_sections.c - critical sections, and when what they published is no longer needed. See wcp.h.
 *
 * A section's clock is as long as there are threads, and the section is kept by its lock's queue and by every
 * variable accessed in it. But a thread ordered after its release has all of that clock, so when all threads
 * are, only its numbers need be kept. The releases of one thread are in order: so one clock tells which of
 * its sections are known.
 */
#include "detect/wcp.h"

struct dh_wcp_section *dh_wcp_section_new(struct dh_detector *d, u32 thread, u32 clock)
{
    struct dh_wcp_section *s = dh_detect_alloc(d, sizeof(*s));
    if (s) {
        s->thread = thread;
        s->acq = clock;
        s->refs = 1;
    }
    return s;
}

void dh_wcp_section_unref(struct dh_detector *d, struct dh_wcp_section *s)
{
    if (!s)
        return;
    s->refs--;
    if (s->refs == s->listed) /* the clock will not be needed */
        dh_vc_drop(d, &s->h);
    if (!s->refs)
        dh_detect_free(d, s, sizeof(*s));
}

void dh_wcp_closed_add(struct dh_detector *d, struct dh_wcp_closed *c, struct dh_wcp_section *s)
{
    if (c->n == c->cap && !dh_mem_grow(&d->mem, (void **)&c->items, c->n, &c->cap, sizeof(*c->items))) {
        d->failed = true;
        return;
    }
    s->refs++;
    s->listed = true;
    c->items[c->n++] = s;
}

u32 dh_wcp_closed_settle(struct dh_detector *d, struct dh_wcp_closed *c, u32 clock)
{
    u32 n = 0;
    for (u32 i = 0; i < c->n; i++) {
        struct dh_wcp_section *s = c->items[i];
        if (s->refs > 1 && (s->rel > clock || s->last)) {
            c->items[n++] = s;
            continue;
        }
        s->known = true;
        s->listed = false;
        dh_vc_drop(d, &s->h);
        dh_wcp_section_unref(d, s);
    }
    c->n = n;
    return n;
}
