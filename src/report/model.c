/*
 * model.c - building and querying the model. See model.h.
 */
#include "report/model.h"

#include <string.h>

void dh_model_init(struct dh_model *m, struct dh_arena *arena)
{
    *m = (struct dh_model){.arena = arena};
    dh_map_init(&m->processes, arena);
    dh_map_init(&m->counters, arena);
}

void dh_model_done(struct dh_model *m)
{
    for (struct dh_model_process *p = m->process; p; p = p->next) {
        dh_map_done(&p->modules);
        dh_map_done(&p->threads);
        dh_map_done(&p->races);
    }
    dh_map_done(&m->processes);
    dh_map_done(&m->counters);
    m->process = NULL;
}

struct dh_model_process *dh_model_begin_process(struct dh_model *m, const void *key, size_t len)
{
    struct dh_model_process *p = dh_arena_alloc(m->arena, sizeof(*p));
    p->id = p->exe = p->detector = p->guarantee = p->cwd = "";
    dh_map_init(&p->modules, m->arena);
    dh_map_init(&p->threads, m->arena);
    dh_map_init(&p->races, m->arena);
    p->next = m->process;
    m->process = p;
    dh_map_put(&m->processes, key, len, p);
    return p;
}

struct dh_model_process *dh_model_current(struct dh_model *m)
{
    return m->process ? m->process : dh_model_begin_process(m, "", 0);
}

struct dh_model_process *dh_model_find_process(const struct dh_model *m, const void *key, size_t len)
{
    return dh_map_get(&m->processes, key, len);
}

const struct dh_model_thread *dh_model_find_thread(const struct dh_model_process *p, u64 uid)
{
    return dh_map_get(&p->threads, &uid, sizeof(uid));
}

void dh_model_count(struct dh_model *m, const char *name, u64 value)
{
    u64 *sum = dh_map_get(&m->counters, name, strlen(name));
    if (!sum) {
        sum = dh_arena_alloc(m->arena, sizeof(*sum));
        dh_map_put(&m->counters, name, strlen(name), sum);
    }
    *sum += value;
}

u64 dh_model_counter(const struct dh_model *m, const char *name)
{
    const u64 *sum = dh_map_get(&m->counters, name, strlen(name));
    return sum ? *sum : 0;
}
