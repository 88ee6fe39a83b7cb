/*
 * kit.c - see kit.h.
 */
#include "traces/kit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *kit_alloc(size_t n)
{
    void *p = calloc(1, n ? n : 1);
    if (!p)
        abort();
    return p;
}

static void raise_to(u32 *limit, u32 id)
{
    if (id >= *limit)
        *limit = id + 1;
}

void kit_add(struct kit_trace *t, struct dh_event e)
{
    if (t->n == t->cap) {
        t->cap = t->cap ? t->cap * 2 : 64;
        t->events = realloc(t->events, t->cap * sizeof(e));
        if (!t->events)
            abort();
    }
    t->events[t->n++] = e;
    raise_to(&t->threads, e.thread);
    switch (dh_event_space(e.op)) {
    case DH_SPACE_VARIABLE:
        raise_to(&t->cells, e.target);
        if (e.op == DH_OP_RANGE_MOVE || e.op == DH_OP_RANGE_COPY)
            raise_to(&t->cells, e.site);
        break;
    case DH_SPACE_LOCK:
        raise_to(&t->locks, e.target);
        break;
    case DH_SPACE_THREAD:
        raise_to(&t->threads, e.target);
        break;
    default:
        break;
    }
}

void kit_copy(struct kit_trace *to, const struct kit_trace *from)
{
    *to = (struct kit_trace){0};
    for (u32 i = 0; i < from->n; i++)
        kit_add(to, from->events[i]);
}

void kit_done(struct kit_trace *t)
{
    free(t->events);
    for (u32 i = 0; i < 3; i++)
        dh_names_done(&t->names[i]);
    *t = (struct kit_trace){0};
}

bool kit_load(struct kit_trace *t, const char *path)
{
    static struct dh_std s;
    static struct dh_event batch[1024];
    long n;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    *t = (struct kit_trace){0};
    if (fd < 0 || dh_std_init(&s, fd) != 0) {
        perror(path);
        return false;
    }
    while ((n = dh_std_read(&s, batch, DH_ARRAY_LEN(batch))) > 0) {
        for (long i = 0; i < n; i++)
            kit_add(t, batch[i]);
    }
    if (n < 0)
        fprintf(stderr, "%s:%lu: %s\n", path, (unsigned long)s.line, s.error);
    t->names[0] = s.threads;
    t->names[1] = s.locks;
    t->names[2] = s.variables;
    s.threads = s.locks = s.variables = (struct dh_names){0};
    dh_std_done(&s);
    close(fd);
    return n == 0;
}

void kit_print(const struct kit_trace *t)
{
    static const char *const words[DH_OP_COUNT] = {
        [DH_OP_READ] = "r",
        [DH_OP_WRITE] = "w",
        [DH_OP_ACQUIRE] = "acq",
        [DH_OP_RELEASE] = "rel",
        [DH_OP_FORK] = "fork",
        [DH_OP_JOIN] = "join",
        [DH_OP_VOLATILE] = "vol",
        [DH_OP_BARRIER_ENTER] = "enter",
        [DH_OP_BARRIER_LEAVE] = "leave",
        [DH_OP_NOTIFY] = "notify",
        [DH_OP_WAIT] = "wait",
    };
    for (u32 i = 0; i < t->n; i++) {
        const struct dh_event *e = &t->events[i];
        fprintf(stderr, "  T%u|%s(%u)|%u%s\n", e->thread, words[e->op] ? words[e->op] : "?", e->target, i + 1,
                e->mode ? " mode 1" : "");
    }
}

struct kit_said kit_said_new(const struct kit_trace *t)
{
    struct kit_said s = {
        .events = kit_alloc(t->n), .cells = kit_alloc(t->cells), .first = kit_alloc(t->cells * sizeof(u32))};
    memset(s.first, 0xff, t->cells * sizeof(u32));
    return s;
}

void kit_said_add(struct kit_said *s, const struct kit_trace *t, u32 event)
{
    u32 cell = t->events[event].target;
    s->n_events += !s->events[event];
    s->events[event] = 1;
    s->cells[cell] = 1;
    if (event < s->first[cell])
        s->first[cell] = event;
}

void kit_said_done(struct kit_said *s)
{
    free(s->events);
    free(s->cells);
    free(s->first);
}

struct listener {
    struct kit_said said;
    const struct kit_trace *trace;
};

static void on_race(void *ctx, u32 index, const struct dh_race *race)
{
    struct listener *l = ctx;
    (void)index;
    if (race->now.event >= l->trace->n || race->now.thread != l->trace->events[race->now.event].thread ||
        race->cell != l->trace->events[race->now.event].target || race->now.thread == race->earlier.thread)
        l->said.error = -1;
    else
        kit_said_add(&l->said, l->trace, (u32)race->now.event);
}

struct kit_said kit_run(const struct kit_trace *t, const struct dh_detector_ops *ops)
{
    struct listener l = {.said = kit_said_new(t), .trace = t};
    struct dh_host_result r;
    struct dh_event *events = kit_alloc(t->n * sizeof(*events));
    struct dh_host *h = dh_host_new(on_race, &l);
    if (t->n)
        memcpy(events, t->events, t->n * sizeof(*events));
    if (!h || dh_host_add(h, ops) != 0 || dh_host_feed(h, events, t->n) != 0)
        abort();
    dh_host_finish(h);
    dh_host_result(h, 0, &r);
    if (r.error || r.racy_events != l.said.n_events)
        l.said.error = -1;
    dh_host_free(h);
    free(events);
    return l.said;
}
