/*
 * watch.c - GET /v1/changes?since=VERSION&wait_s=N: has anything changed? The page sends this, and reloads
 * itself when it has.
 *
 * The version is the number of the last event. An answer comes when it is greater than `since`, but not
 * sooner than PAUSE_US after the request: a busy hive has thousands of events a second, and nobody can read
 * that fast.
 */
#include "hive/server.h"

enum { MOST_S = 60, PAUSE_US = 200000 };

static void answer_version(struct dh_hive_request *r, u64 version)
{
    dh_hive_answer(r, 200, json_pack("{s:I}", "version", (json_int_t)version));
}

static bool is_due(const struct dh_hive_request *r, u64 version, u64 now)
{
    return now >= r->deadline_us || (version != r->since && now >= r->asked_us + PAUSE_US);
}

void dh_hive_watch_route(struct dh_hive_request *r)
{
    struct dh_hive_server *s = r->server;
    u64 wait_s;
    if (!dh_hive_query_number(r, "since", 0, &r->since) || !dh_hive_query_number(r, "wait_s", 0, &wait_s)) {
        dh_hive_answer_error(r, 400, "'since' and 'wait_s' are numbers");
        return;
    }
    r->asked_us = dh_hive_ticks_us();
    r->deadline_us = r->asked_us + 1000000ull * (wait_s < MOST_S ? wait_s : MOST_S);
    u64 version = dh_hive_engine_lock(s->engine)->seq;
    dh_hive_engine_unlock(s->engine);
    if (!r->since || r->deadline_us <= r->asked_us) {
        answer_version(r, version);
        return;
    }
    dh_hive_suspend(r);
    pthread_mutex_lock(&s->lock);
    bool stopping = s->stopping;
    if (!stopping) {
        r->next = s->watching;
        s->watching = r;
    }
    pthread_mutex_unlock(&s->lock);
    if (stopping) {
        dh_hive_answer_error(r, 503, "the hive is being stopped");
        dh_hive_wake(r);
    }
}

void dh_hive_watch_look(struct dh_hive_server *s)
{
    struct dh_hive_request *ready = NULL, *next;
    u64 version = dh_hive_engine_lock(s->engine)->seq, now = dh_hive_ticks_us();
    dh_hive_engine_unlock(s->engine);
    pthread_mutex_lock(&s->lock);
    for (struct dh_hive_request **at = &s->watching, *r; (r = *at);) {
        if (!is_due(r, version, now)) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        r->next = ready;
        ready = r;
    }
    pthread_mutex_unlock(&s->lock);
    for (; ready; ready = next) {
        next = ready->next;
        answer_version(ready, version);
        dh_hive_wake(ready);
    }
}

void dh_hive_watch_end(struct dh_hive_server *s)
{
    pthread_mutex_lock(&s->lock);
    struct dh_hive_request *all = s->watching, *next;
    s->watching = NULL;
    pthread_mutex_unlock(&s->lock);
    for (; all; all = next) {
        next = all->next;
        dh_hive_answer_error(all, 503, "the hive is being stopped");
        dh_hive_wake(all);
    }
}
