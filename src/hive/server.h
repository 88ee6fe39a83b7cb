/*
 * server.h - what http.c (connections) and api.c (what is asked) share.
 *
 * A request is read whole, then its route is called, once. The route answers by dh_hive_answer, now or, after
 * dh_hive_wait, from the engine's thread: the connection sleeps meanwhile and costs no thread.
 */
#ifndef DH_HIVE_SERVER_H
#define DH_HIVE_SERVER_H

#include <microhttpd.h>
#include <pthread.h>

#include "hive/engine.h"
#include "hive/http.h"
#include "hive/limit.h"

enum dh_hive_access { DH_HIVE_ANYBODY, DH_HIVE_AGENT, DH_HIVE_ADMIN };

struct dh_hive_request;

struct dh_hive_route {
    const char *method, *path; /* a path that ends with a slash has something behind it */
    enum dh_hive_access access;
    size_t most; /* bytes of a body; 0: it has none */
    void (*serve)(struct dh_hive_request *r);
};
extern const struct dh_hive_route dh_hive_routes[];
extern const size_t dh_hive_n_routes;

struct dh_hive_request {
    struct dh_hive_server *server;
    struct MHD_Connection *connection;
    const struct dh_hive_route *route;
    const char *rest; /* of the path, behind the route's */
    u32 program;      /* of an agent's key */
    char user[DH_HIVE_HASH + 1];
    char *body;
    size_t len, cap;
    bool too_long, suspended, answered;
    unsigned status;
    char *text; /* the answer, from malloc */
    const char *type;
    struct dh_hive_job job;
    json_t *input;
    /* A poll that waits: */
    u64 since, deadline_us, asked_us;
    char build[130];
    u32 user_at; /* see dh_hive_poll_changes */
    struct dh_hive_request *next;
};

enum { DH_HIVE_STATUSES = 600 };

struct dh_hive_server {
    struct dh_hive_serve how;
    struct MHD_Daemon *daemon;
    struct dh_hive_engine *engine;
    pthread_mutex_t lock; /* of all below; taken after the state's, if both are */
    struct dh_hive_request *waiting;
    bool stopping;
    struct dh_hive_limit users, strangers;
    u64 answers[DH_HIVE_STATUSES];
    u64 started_us;
};

/* http.c. text is from malloc, and the request's from now on. */
void dh_hive_answer_text(struct dh_hive_request *r, unsigned status, const char *type, char *text);
void dh_hive_answer(struct dh_hive_request *r, unsigned status, json_t *document); /* takes it */
void dh_hive_answer_error(struct dh_hive_request *r, unsigned status, const char *sentence);
/* Have the engine do r->job; its connection sleeps until then. */
void dh_hive_submit(struct dh_hive_request *r, void (*work)(struct dh_hive_batch *b, void *ctx));
/* The connection sleeps until it is answered by dh_hive_wake. */
void dh_hive_suspend(struct dh_hive_request *r);
void dh_hive_wake(struct dh_hive_request *r);
const char *dh_hive_query(struct dh_hive_request *r, const char *name); /* NULL: not given */

/* api_poll.c: polls that wait. */
void dh_hive_poll_route(struct dh_hive_request *r);
void dh_hive_poll_look(struct dh_hive_server *s); /* the state may have changed */
void dh_hive_poll_end(struct dh_hive_server *s);  /* all of them, now */

/* metrics.c: for Prometheus; from malloc. */
char *dh_hive_metrics(struct dh_hive_server *s);

extern const char dh_hive_openapi[]; /* openapi.json */

#endif
