/*
 * server.h - what http.c (connections) and api.c (requests) share.
 *
 * A request is read completely, then its route is called, once. The route answers by dh_hive_answer, now or,
 * after dh_hive_submit or dh_hive_suspend, later: meanwhile the connection is suspended and needs no thread.
 */
#ifndef DH_HIVE_SERVER_H
#define DH_HIVE_SERVER_H

#include <microhttpd.h>
#include <pthread.h>

#include "hive/engine.h"
#include "hive/http.h"
#include "hive/limit.h"
#include "hive/patience.h"
#include "hive/view.h"

enum dh_hive_access {
    DH_HIVE_ANYBODY,
    DH_HIVE_AGENT,  /* the key of a program */
    DH_HIVE_READER, /* the administrator's token, the reader's, or a session of either (session.c) */
    DH_HIVE_ADMIN,  /* the administrator's token */
    /* For people. Refusals are pages, with a request to sign in. */
    DH_HIVE_PAGE,     /* as DH_HIVE_READER */
    DH_HIVE_OPEN_PAGE /* as DH_HIVE_ANYBODY */
};

struct dh_hive_request;

struct dh_hive_route {
    const char *method, *path; /* a path that ends with a slash is a prefix */
    enum dh_hive_access access;
    size_t most; /* limit for the body, in bytes; 0: it has none */
    void (*serve)(struct dh_hive_request *r);
};
extern const struct dh_hive_route dh_hive_routes[];
extern const size_t dh_hive_n_routes;

struct dh_hive_request {
    struct dh_hive_server *server;
    struct MHD_Connection *connection;
    const struct dh_hive_route *route;
    const char *path, *rest; /* rest: the part of the path after the route's */
    const char *back;        /* where to go after signing in; NULL: here */
    u32 program;             /* of an agent's key */
    char user[DH_HIVE_HASH + 1];
    char *body;
    size_t len, cap;
    bool too_long, suspended, answered;
    unsigned status;
    char *text; /* the answer, from malloc */
    const char *type;
    const char *cache;              /* Cache-Control; NULL: no-store */
    char etag[20];                  /* with its quotes; "": none */
    char cookie[2][160], *location; /* Set-Cookie, "": none; Location, from malloc */
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
    pthread_mutex_t lock; /* protects everything below; taken after the state's lock, if both are */
    struct dh_hive_request *waiting, *watching;
    bool stopping;
    struct dh_hive_limit users, strangers;
    struct dh_hive_patience patience; /* has a lock of its own */
    u64 answers[DH_HIVE_STATUSES];
    u64 started_us;
};

/* http.c. text is from malloc, and now belongs to the request. */
void dh_hive_answer_text(struct dh_hive_request *r, unsigned status, const char *type, char *text);
void dh_hive_answer(struct dh_hive_request *r, unsigned status, json_t *document); /* takes it */
void dh_hive_answer_error(struct dh_hive_request *r, unsigned status, const char *sentence);
/* Makes the engine run r->job; the connection is suspended until then. */
void dh_hive_submit(struct dh_hive_request *r, void (*work)(struct dh_hive_batch *b, void *ctx));
/* The connection is suspended until dh_hive_wake. */
void dh_hive_suspend(struct dh_hive_request *r);
void dh_hive_wake(struct dh_hive_request *r);
const char *dh_hive_query(struct dh_hive_request *r, const char *name); /* NULL: not given */
/* A request without a valid token: may this address try again? */
bool dh_hive_may_guess(struct dh_hive_request *r);

/* api.c: a number in the query, or `otherwise` if it is absent. False: it is not a number. */
bool dh_hive_query_number(struct dh_hive_request *r, const char *name, u64 otherwise, u64 *ret);
/* What to list, from the query. Call with the state locked. False: already answered. */
bool dh_hive_query_filter(struct dh_hive_request *r, const struct dh_hive_state *s,
                          struct dh_hive_filter *ret);
/* The unit of PROGRAM/ID, or DH_HIVE_NONE. */
u32 dh_hive_unit_of_path(const struct dh_hive_state *s, const char *rest);

/* api_poll.c: polls that wait. */
void dh_hive_poll_route(struct dh_hive_request *r);
void dh_hive_poll_look(struct dh_hive_server *s); /* the state may have changed */
void dh_hive_poll_end(struct dh_hive_server *s);  /* all of them, now */

/* watch.c: requests that wait for any change. */
void dh_hive_watch_route(struct dh_hive_request *r);
void dh_hive_watch_look(struct dh_hive_server *s);
void dh_hive_watch_end(struct dh_hive_server *s);

/* session.c: sessions of people signed in on the page. */
bool dh_hive_session_valid(struct dh_hive_request *r);
void dh_hive_session_begin(struct dh_hive_request *r); /* POST /signin */
void dh_hive_session_there(struct dh_hive_request *r); /* GET /signin, when already signed in */
void dh_hive_session_end(struct dh_hive_request *r);   /* POST /signout */

/* page*.c: the page. */
void dh_hive_page_list(struct dh_hive_request *r);
void dh_hive_page_race(struct dh_hive_request *r);
void dh_hive_page_users(struct dh_hive_request *r);
void dh_hive_page_asset(struct dh_hive_request *r);
/* Sends a page saying that r was refused, with this status and message. */
void dh_hive_page_refused(struct dh_hive_request *r, unsigned status, const char *sentence);

/* metrics.c: for Prometheus; from malloc. */
char *dh_hive_metrics(struct dh_hive_server *s);

extern const char dh_hive_openapi[]; /* openapi.json */

#endif
