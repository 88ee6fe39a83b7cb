/*
 * api_poll.c - the most frequent request of agents: is there a task, and has mine changed?
 *
 * POST /v1/poll {"build": ID, "since": VERSION, "wait_s": N}. Answered at once if the user's task is newer
 * than `since`, otherwise when it changes or the time is over. A poll that needs no event is answered from
 * the state, without the log.
 */
#include <stdlib.h>
#include <string.h>

#include "hive/server.h"
#include "hive/view.h"

enum { MOST_S = 60, AGAIN_US = 1000000 }; /* a poll waiting without a task asks for one once a second */

/* Call with the state locked. */
static void answer_task(struct dh_hive_request *r, const struct dh_hive_state *s, u32 user)
{
    const struct dh_hive_user *u = &s->users[user];
    dh_hive_answer(r, 200,
                   json_pack("{s:I, s:o, s:b}", "version", (json_int_t)u->changed, "task",
                             dh_hive_view_task(s, user), "relieved",
                             u->relieved_until_us > dh_hive_engine_now(r->server->engine)));
}

/* Is there news, in the log up to this event? Call with the state locked. Events not in the log yet may be
 * rolled back, and the number of a task may then be given to another user. */
static bool is_news(const struct dh_hive_request *r, const struct dh_hive_state *s, u32 user, u64 upto,
                    u64 ticks)
{
    u64 changed = s->users[user].changed;
    return changed <= upto && (changed > r->since || ticks >= r->deadline_us);
}

/* The connection is suspended. False: already answered, because the hive is being stopped. */
static bool wait_for_news(struct dh_hive_request *r)
{
    struct dh_hive_server *s = r->server;
    pthread_mutex_lock(&s->lock);
    bool waits = !s->stopping;
    if (waits) {
        r->next = s->waiting;
        s->waiting = r;
    }
    pthread_mutex_unlock(&s->lock);
    if (!waits)
        dh_hive_answer_error(r, 503, "the hive is being stopped");
    return waits;
}

static void work(struct dh_hive_batch *b, void *ctx)
{
    struct dh_hive_request *r = ctx;
    const char *why;
    u32 user;
    enum dh_hive_status status = dh_hive_poll(b, r->program, r->user, r->build, &user, &why);
    if (status != DH_HIVE_OK)
        dh_hive_answer_error(r, status, why);
    else if (is_news(r, b->state, user, b->state->seq, dh_hive_ticks_us()))
        answer_task(r, b->state, user);
}

static void done(void *ctx, bool stored)
{
    struct dh_hive_request *r = ctx;
    if (!stored)
        dh_hive_answer_error(r, 503, "the hive cannot store anything at present; try again");
    if (r->answered || !wait_for_news(r))
        dh_hive_wake(r);
}

static void ask_engine(struct dh_hive_request *r)
{
    r->asked_us = dh_hive_ticks_us();
    r->job = (struct dh_hive_job){.work = work, .done = done, .ctx = r};
    if (!dh_hive_engine_submit(r->server->engine, &r->job)) {
        dh_hive_answer_error(r, 503, "the hive is being stopped");
        dh_hive_wake(r);
    }
}

void dh_hive_poll_route(struct dh_hive_request *r)
{
    const char *build = json_string_value(json_object_get(r->input, "build"));
    const json_t *since = json_object_get(r->input, "since"), *wait = json_object_get(r->input, "wait_s");
    if (!dh_hive_is_hex(build, 8, sizeof(r->build) - 2) || (since && !json_is_integer(since)) ||
        (wait && (!json_is_integer(wait) || json_integer_value(wait) < 0))) {
        dh_hive_answer_error(r, 400, "a poll has a 'build' and, as numbers, 'since' and 'wait_s'");
        return;
    }
    json_int_t seconds = json_integer_value(wait);
    memcpy(r->build, build, strlen(build) + 1);
    r->since = since && json_integer_value(since) > 0 ? (u64)json_integer_value(since) : 0;
    u64 ticks = dh_hive_ticks_us();
    r->deadline_us = ticks + 1000000ull * (u64)(seconds < MOST_S ? seconds : MOST_S);
    r->user_at = DH_HIVE_NONE;
    const struct dh_hive_state *s = dh_hive_engine_lock(r->server->engine);
    u64 now = dh_hive_engine_now(r->server->engine);
    bool changes = dh_hive_poll_changes(s, r->program, r->user, r->build, now, &r->user_at), waits = true;
    if (!changes && is_news(r, s, r->user_at, s->stored, ticks)) {
        answer_task(r, s, r->user_at);
    } else {
        dh_hive_suspend(r);
        if (!changes) /* it is listed before the state can change, or it would miss the change */
            waits = wait_for_news(r);
    }
    dh_hive_engine_unlock(r->server->engine);
    if (changes)
        ask_engine(r);
    else if (!waits)
        dh_hive_wake(r);
}

/* Removes from the list the polls that have news, and those that may get a task now. */
void dh_hive_poll_look(struct dh_hive_server *server)
{
    struct dh_hive_request *ready = NULL, *again = NULL, *next;
    const struct dh_hive_state *s = dh_hive_engine_lock(server->engine);
    u64 now = dh_hive_engine_now(server->engine), ticks = dh_hive_ticks_us();
    pthread_mutex_lock(&server->lock);
    for (struct dh_hive_request **at = &server->waiting, *r; (r = *at);) {
        bool changes = dh_hive_poll_changes(s, r->program, r->user, r->build, now, &r->user_at);
        bool over = ticks >= r->deadline_us, ask = changes && ticks - r->asked_us >= AGAIN_US;
        if (r->user_at != DH_HIVE_NONE && is_news(r, s, r->user_at, s->stored, ticks))
            answer_task(r, s, r->user_at);
        else if (over && r->user_at != DH_HIVE_NONE)
            dh_hive_answer_error(r, 503, "the hive cannot store anything at present; try again");
        else if (over)
            dh_hive_answer_error(r, 404, "this program has no such build");
        if (!r->answered && !ask) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        r->next = r->answered ? ready : again;
        *(r->answered ? &ready : &again) = r;
    }
    pthread_mutex_unlock(&server->lock);
    dh_hive_engine_unlock(server->engine);
    for (; ready; ready = next) {
        next = ready->next;
        dh_hive_wake(ready);
    }
    for (; again; again = next) {
        next = again->next;
        ask_engine(again);
    }
}

void dh_hive_poll_end(struct dh_hive_server *s)
{
    pthread_mutex_lock(&s->lock);
    struct dh_hive_request *all = s->waiting, *next;
    s->waiting = NULL;
    s->stopping = true;
    pthread_mutex_unlock(&s->lock);
    for (; all; all = next) {
        next = all->next;
        dh_hive_answer_error(all, 503, "the hive is being stopped");
        dh_hive_wake(all);
    }
}
