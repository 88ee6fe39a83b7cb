/*
 * net.c - see net.h.
 */
#include "agent/net.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/arena.h"
#include "util/url.h"

enum { LARGEST = 1 << 20, CONNECT_S = 10, FDS = 256 };

struct request {
    struct request *next, **from;
    CURL *curl;
    struct curl_slist *headers;
    char *body;
    char *text; /* the answer so far */
    size_t n, cap;
    char why[CURL_ERROR_SIZE];
    dh_agent_answered *answered;
    void *ctx;
};

struct dh_agent_net {
    CURLM *multi;
    struct request *requests;
    char *cacert;
};

struct dh_agent_net *dh_agent_net_new(const char *cacert)
{
    struct dh_agent_net *n = dh_util_alloc(sizeof(*n));
    *n = (struct dh_agent_net){0};
    if (curl_global_init(CURL_GLOBAL_DEFAULT) == 0)
        n->multi = curl_multi_init();
    if (!n->multi) {
        free(n);
        return NULL;
    }
    n->cacert = cacert ? strdup(cacert) : NULL;
    return n;
}

static void forget(struct dh_agent_net *n, struct request *r)
{
    *r->from = r->next;
    if (r->next)
        r->next->from = r->from;
    if (r->curl) {
        curl_multi_remove_handle(n->multi, r->curl);
        curl_easy_cleanup(r->curl);
    }
    curl_slist_free_all(r->headers);
    free(r->body);
    free(r->text);
    free(r);
}

void dh_agent_net_free(struct dh_agent_net *n)
{
    if (!n)
        return;
    for (struct request *r = n->requests, *next; r; r = next) {
        next = r->next;
        forget(n, r);
    }
    curl_multi_cleanup(n->multi);
    free(n->cacert);
    free(n);
}

static size_t take_bytes(char *bytes, size_t size, size_t count, void *ctx)
{
    struct request *r = ctx;
    size_t more = size * count;
    if (more > LARGEST || r->n + more > LARGEST)
        return 0;
    while (r->n + more + 1 > r->cap)
        r->text = dh_util_grow(r->text, r->cap, &r->cap, 1);
    memcpy(r->text + r->n, bytes, more);
    r->n += more;
    r->text[r->n] = 0;
    return more;
}

static void add_header(struct request *r, const char *name, const char *value)
{
    size_t n = strlen(name) + strlen(value) + 3;
    char *line = dh_util_alloc(n);
    snprintf(line, n, "%s: %s", name, value);
    r->headers = curl_slist_append(r->headers, line);
    free(line);
}

static void set_up(struct dh_agent_net *n, struct request *r, const char *url, u64 limit_s)
{
    CURL *c = r->curl;
    curl_easy_setopt(c, CURLOPT_URL, url);
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    if (dh_url_is_local(url))
        curl_easy_setopt(c, CURLOPT_PROXY, ""); /* whatever the environment says */
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, r->headers);
    if (r->body)
        curl_easy_setopt(c, CURLOPT_POSTFIELDS, r->body);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, r);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, r->why);
    curl_easy_setopt(c, CURLOPT_PRIVATE, r);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    curl_easy_setopt(c, CURLOPT_TIMEOUT, (long)limit_s);
    if (n->cacert)
        curl_easy_setopt(c, CURLOPT_CAINFO, n->cacert);
}

/* user and body: NULL for a GET. */
static void ask(struct dh_agent_net *n, const char *url, const char *key, const char *user, const char *body,
                u64 limit_s, dh_agent_answered *answered, void *ctx)
{
    struct request *r = dh_util_alloc(sizeof(*r));
    *r = (struct request){.next = n->requests, .from = &n->requests, .answered = answered, .ctx = ctx};
    if (r->next)
        r->next->from = &r->next;
    n->requests = r;
    r->curl = curl_easy_init();
    r->body = body ? strdup(body) : NULL;
    if (!r->curl || (body && !r->body))
        dh_util_no_memory();
    size_t size = strlen(key) + 8;
    char *bearer = dh_util_alloc(size);
    snprintf(bearer, size, "Bearer %s", key);
    add_header(r, "Authorization", bearer);
    free(bearer);
    if (user)
        add_header(r, "X-Deadheat-User", user);
    if (body)
        add_header(r, "Content-Type", "application/json");
    set_up(n, r, url, limit_s);
    curl_multi_add_handle(n->multi, r->curl);
}

void dh_agent_net_post(struct dh_agent_net *n, const char *url, const char *key, const char *user,
                       const char *body, u64 limit_s, dh_agent_answered *answered, void *ctx)
{
    ask(n, url, key, user, body, limit_s, answered, ctx);
}

void dh_agent_net_get(struct dh_agent_net *n, const char *url, const char *key, u64 limit_s,
                      dh_agent_answered *answered, void *ctx)
{
    ask(n, url, key, NULL, NULL, limit_s, answered, ctx);
}

void dh_agent_net_drop(struct dh_agent_net *n, const void *ctx)
{
    for (struct request *r = n->requests, *next; r; r = next) {
        next = r->next;
        if (r->ctx == ctx)
            forget(n, r);
    }
}

static void finish(struct dh_agent_net *n, struct request *r, CURLcode code)
{
    long status = 0;
    dh_agent_answered *answered = r->answered;
    void *ctx = r->ctx;
    if (code == CURLE_OK)
        curl_easy_getinfo(r->curl, CURLINFO_RESPONSE_CODE, &status);
    char *text = status ? r->text : strdup(r->why[0] ? r->why : curl_easy_strerror(code));
    size_t len = status ? r->n : text ? strlen(text) : 0;
    r->text = NULL;
    forget(n, r); /* before the callback, which may send another request */
    answered(ctx, status, text ? text : "", len);
    free(text);
}

void dh_agent_net_wait(struct dh_agent_net *n, const int *fds, size_t n_fds, u64 us)
{
    struct curl_waitfd also[FDS];
    int running, left;
    n_fds = n_fds < FDS ? n_fds : FDS;
    for (size_t i = 0; i < n_fds; i++)
        also[i] = (struct curl_waitfd){.fd = fds[i], .events = CURL_WAIT_POLLIN};
    curl_multi_perform(n->multi, &running);
    curl_multi_poll(n->multi, also, (unsigned)n_fds, (int)((us + 999) / 1000), NULL);
    curl_multi_perform(n->multi, &running);
    for (CURLMsg *m; (m = curl_multi_info_read(n->multi, &left));) {
        struct request *r = NULL;
        if (m->msg != CURLMSG_DONE)
            continue;
        CURLcode code = m->data.result;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&r);
        finish(n, r, code);
    }
}
