/*
 * http.c - the hive's connections: reading requests, authorisation, answering; see server.h.
 *
 * Unauthorised requests are refused before the body is read. Nothing of a refused request is kept.
 */
#include "hive/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "hive/secret.h"
#include "hive/server.h"

/* A body or an answer must be transferred at this many bytes per second at least, plus a little extra
 * time. */
enum { MEMORY = 16 << 10, THREADS = 2, SLOWEST = 256 << 10, LONGEST_ANSWER = 16 << 20 };

static u64 patience_us(const struct dh_hive_server *s, size_t bytes)
{
    return (u64)(s->how.patience_s * 1e6) + 1000000ull * bytes / SLOWEST;
}

/* ---- Answers ---- */

void dh_hive_answer_text(struct dh_hive_request *r, unsigned status, const char *type, char *text)
{
    free(r->text);
    r->status = status;
    r->type = type;
    r->text = text;
    r->answered = true;
}

void dh_hive_answer(struct dh_hive_request *r, unsigned status, json_t *document)
{
    char *text = document ? json_dumps(document, JSON_COMPACT) : NULL;
    if (!text)
        dh_util_no_memory();
    json_decref(document);
    dh_hive_answer_text(r, status, "application/json", text);
}

void dh_hive_answer_error(struct dh_hive_request *r, unsigned status, const char *sentence)
{
    dh_hive_answer(r, status, json_pack("{s:s}", "error", sentence));
}

static bool is_page(const struct dh_hive_request *r)
{
    return r->route && (r->route->access == DH_HIVE_PAGE || r->route->access == DH_HIVE_OPEN_PAGE);
}

/* A page shows names chosen by others: should one ever get past the escaping, it can load and run nothing. */
static void add_page_headers(struct MHD_Response *response)
{
    MHD_add_response_header(response, "Content-Security-Policy",
                            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
                            "connect-src 'self'; form-action 'self'; base-uri 'none'; "
                            "frame-ancestors 'none'");
    MHD_add_response_header(response, "Referrer-Policy", "same-origin");
    MHD_add_response_header(response, "X-Frame-Options", "DENY");
    MHD_add_response_header(response, "Cross-Origin-Opener-Policy", "same-origin");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
}

static void add_headers(struct dh_hive_request *r, struct MHD_Response *response)
{
    MHD_add_response_header(response, "Content-Type", r->type);
    MHD_add_response_header(response, "Cache-Control", r->cache ? r->cache : "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (is_page(r))
        add_page_headers(response);
    if (r->etag[0])
        MHD_add_response_header(response, "ETag", r->etag);
    for (size_t i = 0; i < DH_ARRAY_LEN(r->cookie); i++)
        if (r->cookie[i][0])
            MHD_add_response_header(response, "Set-Cookie", r->cookie[i]);
    if (r->location)
        MHD_add_response_header(response, "Location", r->location);
    if (r->status == 401)
        MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (r->status == 429)
        MHD_add_response_header(response, "Retry-After", "1");
}

static enum MHD_Result send_answer(struct dh_hive_request *r)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(r->text), r->text, MHD_RESPMEM_MUST_FREE);
    r->text = NULL; /* freed with the response */
    if (!response)
        return MHD_NO;
    add_headers(r, response);
    pthread_mutex_lock(&r->server->lock);
    r->server->answers[r->status < DH_HIVE_STATUSES ? r->status : 0]++;
    pthread_mutex_unlock(&r->server->lock);
    dh_hive_patience_set(r->connection, patience_us(r->server, LONGEST_ANSWER));
    enum MHD_Result sent = MHD_queue_response(r->connection, r->status, response);
    MHD_destroy_response(response);
    return sent;
}

void dh_hive_suspend(struct dh_hive_request *r)
{
    r->suspended = true;
    MHD_suspend_connection(r->connection);
}

void dh_hive_wake(struct dh_hive_request *r)
{
    MHD_resume_connection(r->connection);
}

static void job_done(void *ctx, bool stored)
{
    struct dh_hive_request *r = ctx;
    if (!stored)
        dh_hive_answer_error(r, 503, "the hive cannot store anything at present; try again");
    dh_hive_wake(r);
}

void dh_hive_submit(struct dh_hive_request *r, void (*work)(struct dh_hive_batch *b, void *ctx))
{
    r->job = (struct dh_hive_job){.work = work, .done = job_done, .ctx = r};
    if (!r->suspended)
        dh_hive_suspend(r);
    if (!dh_hive_engine_submit(r->server->engine, &r->job))
        job_done(r, false);
}

const char *dh_hive_query(struct dh_hive_request *r, const char *name)
{
    return MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, name);
}

/* ---- Authorisation ---- */

static const struct dh_hive_route *find_route(const char *method, const char *path, const char **ret_rest,
                                              bool *ret_path)
{
    const struct dh_hive_route *found = NULL;
    *ret_path = false;
    for (size_t i = 0; i < dh_hive_n_routes; i++) {
        const struct dh_hive_route *x = &dh_hive_routes[i];
        size_t n = strlen(x->path);
        bool open = n > 1 && x->path[n - 1] == '/';
        if (open ? strncmp(path, x->path, n) != 0 || !path[n] : strcmp(path, x->path) != 0)
            continue;
        *ret_path = true;
        if (strcmp(method, x->method) == 0) {
            found = x;
            *ret_rest = path + n;
        }
    }
    return found;
}

static u64 address_of(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *a = info ? info->client_addr : NULL;
    if (a && a->sa_family == AF_INET)
        return dh_util_hash(&((const struct sockaddr_in *)a)->sin_addr, 4);
    if (a && a->sa_family == AF_INET6)
        return dh_util_hash(&((const struct sockaddr_in6 *)a)->sin6_addr, 8); /* one customer's network */
    return 1;
}

static bool may_ask(struct dh_hive_server *s, struct dh_hive_limit *limit, u64 who)
{
    pthread_mutex_lock(&s->lock);
    bool may = dh_hive_limit_ask(limit, who | 1, dh_hive_ticks_us());
    pthread_mutex_unlock(&s->lock);
    return may;
}

/* The SHA-256 of the token presented. */
static bool bearer(struct MHD_Connection *c, char ret[65])
{
    const char *given = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Authorization");
    if (!given || strncmp(given, "Bearer ", 7) != 0 || !given[7])
        return false;
    dh_hive_secret_hash(given + 7, strlen(given + 7), ret);
    return true;
}

/* All keys are compared, whichever matches. */
static u32 program_of_key(struct dh_hive_server *s, const char hash[65])
{
    const struct dh_hive_state *state = dh_hive_engine_lock(s->engine);
    u32 found = DH_HIVE_NONE;
    for (u32 p = 0; p < state->n_programs; p++)
        for (size_t k = 0; k < state->programs[p].n_keys; k++)
            if (dh_hive_secret_equal(state->programs[p].keys[k].hash, hash) &&
                !state->programs[p].keys[k].revoked)
                found = p;
    dh_hive_engine_unlock(s->engine);
    return found;
}

static void admit_agent(struct dh_hive_request *r, const char hash[65])
{
    const char *user = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "X-Deadheat-User");
    r->program = program_of_key(r->server, hash);
    if (r->program == DH_HIVE_NONE) {
        dh_hive_answer_error(r, 401, "this is no ingest key of a program");
    } else if (!dh_hive_is_hex(user, 32, 32)) {
        dh_hive_answer_error(r, 400, "X-Deadheat-User has 32 hexadecimal digits, drawn at random once");
    } else {
        dh_hive_secret_hash(user, 32, r->user);
        if (!may_ask(r->server, &r->server->users, dh_util_hash(r->user, DH_HIVE_HASH)))
            dh_hive_answer_error(r, 429, "this user asks too often");
    }
}

/* For a page, the refusal is a page, too. */
static void refuse(struct dh_hive_request *r, unsigned status, const char *sentence)
{
    if (is_page(r))
        dh_hive_page_refused(r, status, sentence);
    else
        dh_hive_answer_error(r, status, sentence);
}

/* For readers and administrators. */
static void admit_person(struct dh_hive_request *r, const char *hash)
{
    const struct dh_hive_serve *how = &r->server->how;
    bool reads = r->route->access != DH_HIVE_ADMIN;
    if (!how->admin && !(reads && how->reader))
        refuse(r, 403, "this hive has no administrator: start it with --admin-token-file");
    else if (!hash && reads && dh_hive_session_valid(r))
        return;
    else if (!hash)
        refuse(r, 401, is_page(r) ? "" : "an Authorization header with a Bearer token is needed");
    else if (!(how->admin && dh_hive_secret_equal(how->admin, hash)) &&
             !(reads && how->reader && dh_hive_secret_equal(how->reader, hash)))
        refuse(r, 401, reads ? "this token is not valid here" : "this is not the administrator's token");
}

bool dh_hive_may_guess(struct dh_hive_request *r)
{
    return may_ask(r->server, &r->server->strangers, address_of(r->connection));
}

static void admit(struct dh_hive_request *r)
{
    char hash[65];
    if (r->route->access == DH_HIVE_ANYBODY || r->route->access == DH_HIVE_OPEN_PAGE)
        return;
    bool given = bearer(r->connection, hash);
    if (r->route->access != DH_HIVE_AGENT)
        admit_person(r, given ? hash : NULL);
    else if (given)
        admit_agent(r, hash);
    else
        dh_hive_answer_error(r, 401, "an Authorization header with a Bearer token is needed");
    /* Opening the page before signing in is not guessing. */
    if (r->answered && r->status == 401 && (given || !is_page(r)) && !dh_hive_may_guess(r))
        refuse(r, 429, "too many requests without a valid token");
}

static void check_length(struct dh_hive_request *r)
{
    const char *length = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Content-Length");
    if (length && strtoull(length, NULL, 10) > r->route->most)
        dh_hive_answer_error(r, 413, "the request is too long");
}

/* ---- Connections ---- */

static struct dh_hive_request *begin(struct dh_hive_server *s, struct MHD_Connection *c, const char *url,
                                     const char *method)
{
    struct dh_hive_request *r = dh_util_alloc(sizeof(*r));
    bool path;
    *r = (struct dh_hive_request){.server = s, .connection = c, .path = url, .program = DH_HIVE_NONE};
    r->route = find_route(method, url, &r->rest, &path);
    if (!r->route)
        dh_hive_answer_error(r, path ? 405 : 404, path ? "no such method here" : "there is nothing here");
    if (!r->answered)
        admit(r);
    if (!r->answered)
        check_length(r);
    return r;
}

static void take_body(struct dh_hive_request *r, const char *data, size_t n)
{
    if (r->too_long || n > r->route->most - r->len) {
        r->too_long = true;
        return;
    }
    if (r->len + n + 1 > r->cap) {
        r->cap = 2 * (r->len + n + 1);
        r->body = dh_util_realloc(r->body, r->cap);
    }
    memcpy(r->body + r->len, data, n);
    r->len += n;
    r->body[r->len] = 0;
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *c, const char *url, const char *method,
                                  const char *version, const char *data, size_t *data_len, void **request)
{
    struct dh_hive_request *r = *request;
    (void)version;
    if (!r) {
        r = *request = begin(ctx, c, url, method);
        if (r->answered)
            return send_answer(r);
        dh_hive_patience_set(c, patience_us(ctx, r->route->most));
        return MHD_YES;
    }
    if (*data_len) {
        take_body(r, data, *data_len);
        *data_len = 0;
        return MHD_YES;
    }
    dh_hive_patience_set(c, 0); /* now it waits for us */
    if (!r->answered && r->too_long)
        dh_hive_answer_error(r, 413, "the request is too long");
    else if (!r->answered)
        r->route->serve(r);
    if (r->suspended) { /* the next call comes when it is answered */
        r->suspended = false;
        return MHD_YES;
    }
    return send_answer(r);
}

static void on_end(void *ctx, struct MHD_Connection *c, void **request, enum MHD_RequestTerminationCode how)
{
    struct dh_hive_request *r = *request;
    (void)how;
    if (!r)
        return;
    dh_hive_patience_set(c, patience_us(ctx, 0));
    json_decref(r->input);
    free(r->body);
    free(r->text);
    free(r->location);
    free(r);
    *request = NULL;
}

static void on_change(void *ctx)
{
    struct dh_hive_server *s = ctx;
    if (__atomic_load_n(&s->daemon, __ATOMIC_ACQUIRE)) {
        dh_hive_poll_look(s);
        dh_hive_watch_look(s);
    }
    dh_hive_patience_sweep(&s->patience, dh_hive_ticks_us());
}

bool dh_hive_is_loopback(const char *address)
{
    struct in_addr v4;
    if (inet_pton(AF_INET, address, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return strcmp(address, "::1") == 0;
}

static struct MHD_Daemon *listen_on(struct dh_hive_server *s)
{
    const struct dh_hive_serve *how = &s->how;
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(how->port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(how->port)};
    struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)how->cert},
                                   {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)how->key},
                                   {MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC |
                     (how->cert ? MHD_USE_TLS : 0);
    struct sockaddr *at = (struct sockaddr *)&v4;
    if (inet_pton(AF_INET, how->address, &v4.sin_addr) != 1) {
        if (inet_pton(AF_INET6, how->address, &v6.sin6_addr) != 1) {
            errno = EINVAL;
            return NULL;
        }
        at = (struct sockaddr *)&v6;
        flags |= MHD_USE_IPv6;
    }
    return MHD_start_daemon(flags, how->port, NULL, NULL, on_request, s, MHD_OPTION_SOCK_ADDR, at,
                            MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS, MHD_OPTION_CONNECTION_LIMIT,
                            how->connections, MHD_OPTION_CONNECTION_TIMEOUT,
                            (unsigned)(how->patience_s + 0.5), MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                            (size_t)MEMORY, MHD_OPTION_LISTEN_BACKLOG_SIZE, 1024u,
                            MHD_OPTION_NOTIFY_COMPLETED, on_end, s, MHD_OPTION_NOTIFY_CONNECTION,
                            dh_hive_patience_notify, &s->patience, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
                            how->connections / 2, MHD_OPTION_ARRAY, how->cert ? tls : none, MHD_OPTION_END);
}

/* Checked first, because all that the HTTP library says is that it cannot start. */
static int check_certificate(const struct dh_hive_serve *how, char **ret_why)
{
    gnutls_certificate_credentials_t both;
    if (!how->cert)
        return 0;
    int rc = gnutls_certificate_allocate_credentials(&both);
    if (!rc) {
        const gnutls_datum_t cert = {(unsigned char *)how->cert, (unsigned)strlen(how->cert)},
                             key = {(unsigned char *)how->key, (unsigned)strlen(how->key)};
        rc = gnutls_certificate_set_x509_key_mem(both, &cert, &key, GNUTLS_X509_FMT_PEM);
        gnutls_certificate_free_credentials(both);
    }
    if (rc >= 0)
        return 0;
    if (asprintf(ret_why, "the certificate and its key cannot be used: %s", gnutls_strerror(rc)) < 0)
        dh_util_no_memory();
    return -EINVAL;
}

int dh_hive_server_start(const struct dh_hive_serve *how, struct dh_hive_server **ret, char **ret_why)
{
    int rc = check_certificate(how, ret_why);
    if (rc)
        return rc;
    struct dh_hive_server *s = dh_util_alloc(sizeof(*s));
    s->how = *how;
    s->started_us = dh_hive_now_us();
    s->users.per_second = how->rate;
    s->users.burst = 10 * how->rate;
    s->strangers.per_second = 1;
    s->strangers.burst = 30;
    pthread_mutex_init(&s->lock, NULL);
    dh_hive_patience_init(&s->patience, patience_us(s, 0));
    rc = dh_hive_engine_start(how->db, true, how->policy, how->snapshot_events, on_change, s, &s->engine,
                              ret_why);
    if (!rc) {
        struct MHD_Daemon *daemon = listen_on(s);
        if (daemon) {
            __atomic_store_n(&s->daemon, daemon, __ATOMIC_RELEASE);
            *ret = s;
            return 0;
        }
        rc = errno ? -errno : -EIO;
        *ret_why = strdup(strerror(-rc));
        dh_hive_engine_stop(s->engine);
        dh_hive_engine_free(s->engine);
    }
    dh_hive_patience_done(&s->patience);
    pthread_mutex_destroy(&s->lock);
    free(s);
    return rc;
}

u16 dh_hive_server_port(const struct dh_hive_server *s)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}

void dh_hive_server_stop(struct dh_hive_server *s)
{
    dh_hive_poll_end(s); /* no request waits any more, or begins to */
    dh_hive_watch_end(s);
    dh_hive_engine_stop(s->engine); /* all submitted jobs are stored, and their connections resumed */
    MHD_stop_daemon(s->daemon);
    dh_hive_engine_free(s->engine);
    dh_hive_patience_done(&s->patience);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
