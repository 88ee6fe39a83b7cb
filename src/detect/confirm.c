/*
 * confirm.c - see confirm.h.
 */
#include "detect/confirm.h"

#include <errno.h>

int dh_confirm_init(struct dh_confirm *c, const struct dh_trace *trace)
{
    *c = (struct dh_confirm){0};
    int rc = dh_predict_init(&c->p, &c->d, trace);
    if (!rc)
        rc = dh_osr_order_init(&c->order, &c->p);
    c->witness.p = &c->p;
    c->cut = dh_detect_alloc(&c->d, ((size_t)trace->threads + 1) * sizeof(*c->cut));
    return !rc && !c->cut ? -ENOMEM : rc;
}

void dh_confirm_done(struct dh_confirm *c)
{
    dh_mem_done(&c->d.mem);
    *c = (struct dh_confirm){0};
}

enum dh_osr_answer dh_confirm_pair(struct dh_confirm *c, u32 earlier, u32 now)
{
    const struct dh_event *events = c->p.trace->events;
    if (earlier >= c->p.n || now >= c->p.n || !dh_event_is_access(&events[earlier]) ||
        !dh_event_is_access(&events[now]))
        return DH_OSR_OPEN;
    enum dh_osr_answer answer = dh_osr_pair(&c->order, c->cut, earlier, now);
    if (answer == DH_OSR_RACE && !dh_osr_witness(&c->order, &c->witness, c->cut, earlier, now))
        return DH_OSR_OPEN;
    return answer;
}
