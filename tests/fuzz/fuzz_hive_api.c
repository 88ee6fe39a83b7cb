/*
 * fuzz_hive_api.c - any requests to a hive, in any order.
 *
 * The hive is whole: its routes, its engine with the writing thread, and a database. Only the network is not:
 * the functions of libmicrohttpd that it calls are here, and hand it the requests of the input. Each input has a
 * hive of its own, with a program of a few pairs and a bundle. The input is text: requests are separated by a
 * byte 1; each is a line `METHOD PATH`, header lines, an empty line and a body. The header lines `K`, `A` and
 * `U` stand for a valid key, the administrator's token and a user's number, and `$U0` for the id of a unit, `$S0` and
 * `$T0` for those of its sites.
 *
 * What must hold: a request is answered once, with a status that the description of the interface names; what is
 * answered is JSON where it says so; what is refused adds nothing to the log; the log gives the state again.
 */
#include <ctype.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "hive/secret.h"
#include "hive/server.h"
#include "tests/unit/hive_crowd.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

enum { MAX_VALUES = 16, MAX_REQUESTS = 24 };
#define BUILD "0123456789abcdef"
#define KEY "dhk0000000000000000000000000000000000000000"
#define TOKEN "the token of the administrator"
#define USER "11111111111111111111111111111111"

struct MHD_Connection {
    const char *method, *path, *body;
    size_t n_body;
    struct {
        enum MHD_ValueKind kind;
        const char *name, *value;
    } values[MAX_VALUES];
    size_t n_values;
    char *text; /* holds all of these */
    void *request, *peer;
    bool resumed; /* atomic */
    unsigned status, answers;
    u64 seq; /* of the state before it */
};

struct MHD_Response {
    char *text;
    bool json;
};

/* What the hive has given to MHD_start_daemon. */
static struct {
    MHD_AccessHandlerCallback request;
    void *server;
    MHD_RequestCompletedCallback end;
    void *end_ctx;
    MHD_NotifyConnectionCallback notify;
    void *notify_ctx;
} daemon_of;

static struct MHD_Connection *connections[MAX_REQUESTS];
static size_t n_connections;

/* ---- libmicrohttpd ---- */

struct MHD_Daemon *MHD_start_daemon(unsigned flags, uint16_t port, MHD_AcceptPolicyCallback apc,
                                    void *apc_cls, MHD_AccessHandlerCallback dh, void *dh_cls, ...)
{
    va_list args;
    (void)flags, (void)port, (void)apc, (void)apc_cls;
    daemon_of = (__typeof__(daemon_of)){.request = dh, .server = dh_cls};
    va_start(args, dh_cls);
    for (enum MHD_OPTION o; (o = va_arg(args, enum MHD_OPTION)) != MHD_OPTION_END;) {
        if (o == MHD_OPTION_NOTIFY_COMPLETED) {
            daemon_of.end = va_arg(args, MHD_RequestCompletedCallback);
            daemon_of.end_ctx = va_arg(args, void *);
        } else if (o == MHD_OPTION_NOTIFY_CONNECTION) {
            daemon_of.notify = va_arg(args, MHD_NotifyConnectionCallback);
            daemon_of.notify_ctx = va_arg(args, void *);
        } else if (o == MHD_OPTION_SOCK_ADDR || o == MHD_OPTION_ARRAY) {
            (void)va_arg(args, void *);
        } else if (o == MHD_OPTION_CONNECTION_MEMORY_LIMIT) {
            (void)va_arg(args, size_t);
        } else {
            (void)va_arg(args, unsigned);
        }
    }
    va_end(args);
    return (struct MHD_Daemon *)&daemon_of;
}

const union MHD_DaemonInfo *MHD_get_daemon_info(struct MHD_Daemon *d, enum MHD_DaemonInfoType type, ...)
{
    (void)d, (void)type;
    return NULL;
}

const union MHD_ConnectionInfo *MHD_get_connection_info(struct MHD_Connection *c,
                                                        enum MHD_ConnectionInfoType type, ...)
{
    static union MHD_ConnectionInfo info;
    memset(&info, 0, sizeof(info));
    if (type == MHD_CONNECTION_INFO_SOCKET_CONTEXT)
        info.socket_context = c->peer;
    else if (type == MHD_CONNECTION_INFO_CONNECTION_FD)
        info.connect_fd = -1;
    else
        return NULL;
    return &info;
}

const char *MHD_lookup_connection_value(struct MHD_Connection *c, enum MHD_ValueKind kind, const char *key)
{
    for (size_t i = 0; i < c->n_values; i++)
        if (c->values[i].kind == kind && strcasecmp(c->values[i].name, key) == 0)
            return c->values[i].value;
    return NULL;
}

int MHD_get_connection_values(struct MHD_Connection *c, enum MHD_ValueKind kind, MHD_KeyValueIterator take,
                              void *ctx)
{
    int n = 0;
    for (size_t i = 0; i < c->n_values; i++)
        if (c->values[i].kind == kind && take(ctx, kind, c->values[i].name, c->values[i].value) == MHD_YES)
            n++;
    return n;
}

size_t MHD_http_unescape(char *text)
{
    char *to = text, pair[3] = "";
    for (const char *at = text; *at; at++) {
        bool escaped = at[0] == '%' && isxdigit((u8)at[1]) && isxdigit((u8)at[2]);
        if (escaped) {
            memcpy(pair, at + 1, 2);
            at += 2;
        }
        *to++ = escaped ? (char)strtoul(pair, NULL, 16) : *at;
    }
    *to = 0;
    return (size_t)(to - text);
}

struct MHD_Response *MHD_create_response_from_buffer(size_t size, void *buffer,
                                                     enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *r = dh_util_alloc(sizeof(*r));
    DH_CHECK(mode == MHD_RESPMEM_MUST_FREE && strlen(buffer) == size);
    r->text = buffer;
    return r;
}

enum MHD_Result MHD_add_response_header(struct MHD_Response *r, const char *name, const char *value)
{
    DH_CHECK(!strpbrk(name, "\r\n: ") && !strpbrk(value, "\r\n"));
    if (strcmp(name, "Content-Type") == 0)
        r->json = strcmp(value, "application/json") == 0;
    return MHD_YES;
}

enum MHD_Result MHD_queue_response(struct MHD_Connection *c, unsigned status, struct MHD_Response *r)
{
    json_t *document = r->json ? json_loads(r->text, 0, NULL) : NULL;
    DH_CHECK(!r->json || json_is_object(document));
    DH_CHECK(status < 400 || !r->json || json_is_string(json_object_get(document, "error")));
    json_decref(document);
    c->status = status;
    c->answers++;
    return MHD_YES;
}

void MHD_destroy_response(struct MHD_Response *r)
{
    free(r->text);
    free(r);
}

void MHD_suspend_connection(struct MHD_Connection *c)
{
    (void)c;
}

void MHD_resume_connection(struct MHD_Connection *c)
{
    __atomic_store_n(&c->resumed, true, __ATOMIC_RELEASE);
}

static enum MHD_Result call(struct MHD_Connection *c, const char *data, size_t n)
{
    size_t left = n;
    enum MHD_Result rc =
        daemon_of.request(daemon_of.server, c, c->path, c->method, "HTTP/1.1", data, &left, &c->request);
    DH_CHECK(rc == MHD_YES && left == 0);
    return rc;
}

/* The connection is awake again: the answer is sent, and it ends. */
static void finish(struct MHD_Connection *c)
{
    if (!c->answers)
        call(c, NULL, 0);
    DH_CHECK(c->answers == 1);
    daemon_of.end(daemon_of.end_ctx, c, &c->request, MHD_REQUEST_TERMINATED_COMPLETED_OK);
    daemon_of.notify(daemon_of.notify_ctx, c, &c->peer, MHD_CONNECTION_NOTIFY_CLOSED);
    free(c->text);
    free(c);
}

void MHD_stop_daemon(struct MHD_Daemon *d)
{
    (void)d;
    for (size_t i = 0; i < n_connections; i++) {
        DH_CHECK(__atomic_load_n(&connections[i]->resumed, __ATOMIC_ACQUIRE)); /* nobody is left asleep */
        finish(connections[i]);
    }
    n_connections = 0;
}

/* ---- Requests ---- */

/* The text of a request, with what the input cannot know put in. From malloc. */
static char *expand(const struct dh_hive_state *s, const u8 *data, size_t size, size_t *ret)
{
    char *text = dh_util_alloc(size * 17 + 1);
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        u64 unit = i + 2 < size && data[i + 2] >= '0' ? (u64)data[i + 2] - '0' : UINT64_MAX;
        if (data[i] != '$' || unit >= s->n_units || !strchr("UST", data[i + 1])) {
            text[n++] = (char)data[i];
            continue;
        }
        const struct dh_hive_unit *u = &s->units[unit];
        dh_hive_id_text(data[i + 1] == 'U' ? u->id : u->sites[data[i + 1] == 'T'], text + n);
        n += 16;
        i += 2;
    }
    *ret = n;
    return text;
}

static void add_value(struct MHD_Connection *c, enum MHD_ValueKind kind, const char *name, const char *value)
{
    if (c->n_values < MAX_VALUES)
        c->values[c->n_values++] = (__typeof__(c->values[0])){kind, name, value};
}

static void add_header(struct MHD_Connection *c, char *line)
{
    char *colon = strstr(line, ": ");
    if (strcmp(line, "K") == 0)
        add_value(c, MHD_HEADER_KIND, "Authorization", "Bearer " KEY);
    else if (strcmp(line, "A") == 0)
        add_value(c, MHD_HEADER_KIND, "Authorization", "Bearer " TOKEN);
    else if (strcmp(line, "U") == 0)
        add_value(c, MHD_HEADER_KIND, "X-Deadheat-User", USER);
    else if (colon) {
        *colon = 0;
        add_value(c, MHD_HEADER_KIND, line, colon + 2);
    }
}

static void add_arguments(struct MHD_Connection *c, char *query)
{
    for (char *one; (one = strsep(&query, "&"));) {
        char *value = strchr(one, '=');
        if (value)
            *value++ = 0;
        add_value(c, MHD_GET_ARGUMENT_KIND, one, value);
    }
}

/* NULL: it is not even the beginning of a request. */
static struct MHD_Connection *read_request(char *text, size_t size)
{
    struct MHD_Connection *c = dh_util_alloc(sizeof(*c));
    char *head = strstr(text, "\n\n"), *rest = text, *line;
    c->text = text;
    c->body = head ? head + 2 : text + size;
    c->n_body = size - (size_t)(c->body - text);
    if (head)
        *head = 0;
    line = strsep(&rest, "\n");
    c->method = strsep(&line, " ");
    if (!line || *line != '/' || strlen(c->method) < 3) {
        free(c);
        return NULL;
    }
    c->path = strsep(&line, "?");
    if (line)
        add_arguments(c, line);
    while ((line = strsep(&rest, "\n")))
        add_header(c, line);
    return c;
}

static void nothing(struct dh_hive_batch *b, void *ctx)
{
    *(u64 *)ctx = b->state->seq;
}

/* The number of the last event, when all that was submitted is done. */
static u64 settle(struct dh_hive_server *s)
{
    u64 seq = 0;
    DH_CHECK(dh_hive_engine_run(s->engine, nothing, &seq));
    return seq;
}

static bool is_described(const struct MHD_Connection *c)
{
    static json_t *description;
    const char *key;
    json_t *item;
    char status[16], method[16];
    if (!description)
        description = json_loads(dh_hive_openapi, 0, NULL);
    snprintf(status, sizeof(status), "%u", c->status);
    snprintf(method, sizeof(method), "%s", strcmp(c->method, "GET") == 0 ? "get" : "post");
    json_object_foreach(json_object_get(description, "paths"), key, item)
    {
        size_t n = strcspn(key, "{");
        if (key[n] ? strncmp(key, c->path, n) != 0 || !c->path[n] : strcmp(key, c->path) != 0)
            continue;
        const json_t *op = json_object_get(item, method);
        /* What any request may be answered: no such method, a body that should not be. */
        return c->status == 405 || c->status == 413 ||
               json_object_get(json_object_get(op, "responses"), status) != NULL;
    }
    /* Pages are for people, and described nowhere. */
    return strncmp(c->path, "/v1/", 4) != 0 || c->status == 404 || c->status == 405;
}

static void serve(struct dh_hive_server *s, const u8 *data, size_t size)
{
    size_t n;
    char *text = expand(dh_hive_engine_lock(s->engine), data, size, &n);
    dh_hive_engine_unlock(s->engine);
    struct MHD_Connection *c = read_request(text, n);
    if (!c) {
        free(text);
        return;
    }
    u64 before = settle(s);
    daemon_of.notify(daemon_of.notify_ctx, c, &c->peer, MHD_CONNECTION_NOTIFY_STARTED);
    call(c, NULL, 0);
    for (size_t at = 0, part; !c->answers && at < c->n_body; at += part) {
        part = c->n_body - at < 1000 ? c->n_body - at : 1000;
        call(c, c->body + at, part);
    }
    if (!c->answers)
        call(c, NULL, 0);
    u64 after = settle(s);
    if (!c->answers && !__atomic_load_n(&c->resumed, __ATOMIC_ACQUIRE)) {
        connections[n_connections++] = c; /* a poll that waits */
        return;
    }
    if (!c->answers)
        call(c, NULL, 0);
    DH_CHECK(is_described(c));
    /* A poll that waits asks for a task from time to time, and may be given one just now. */
    DH_CHECK(c->status < 400 || before == after || n_connections);
    finish(c);
}

/* ---- A hive for each input ---- */

static void prepare(struct dh_hive_batch *b, void *ctx)
{
    static u8 *table;
    static size_t len;
    const char *why;
    char hash[65];
    u32 number;
    (void)ctx;
    if (!table)
        hive_table(3, 3, 0, true, &table, &len);
    dh_hive_secret_hash(KEY, strlen(KEY), hash);
    DH_CHECK(dh_hive_add_build(b, "prog", BUILD, NULL, table, len, &why) == DH_HIVE_CREATED);
    DH_CHECK(dh_hive_add_key(b, "prog", hash, &number, &why) == DH_HIVE_CREATED);
}

static int take(void *ctx, const struct dh_store_event *e)
{
    return dh_hive_apply(ctx, e);
}

/* What the log gives is what the hive had in memory. */
static void check_log(const char *path, const json_t *wanted)
{
    struct dh_store *store;
    struct dh_hive_state s;
    char *why;
    DH_CHECK(dh_store_open(path, false, &store, &why) == 0);
    dh_hive_state_init(&s);
    DH_CHECK(dh_store_read(store, 0, take, &s) == 0);
    json_t *got = dh_hive_dump(&s);
    DH_CHECK(json_equal(got, wanted));
    json_decref(got);
    dh_hive_state_done(&s);
    dh_store_close(store);
}

/* In memory, if this machine has such a place: a commit waits for a disk. */
static const char *path_of(void)
{
    static char path[100];
    snprintf(path, sizeof(path), "%s/deadheat-fuzz-%d.db", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ".",
             getpid());
    return path;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    const char *path = path_of();
    char admin[65], *why;
    struct dh_hive_server *s;
    dh_hive_secret_hash(TOKEN, strlen(TOKEN), admin);
    const struct dh_hive_serve how = {.db = path,
                                      .address = "127.0.0.1",
                                      .admin = admin,
                                      .rate = 1e6,
                                      .connections = 100,
                                      .patience_s = 30,
                                      .policy = &dh_hive_racemob};
    DH_CHECK(dh_hive_server_start(&how, &s, &why) == 0);
    DH_CHECK(dh_hive_engine_run(s->engine, prepare, NULL));
    for (size_t at = 0, n = 0; at < size && n < MAX_REQUESTS; n++) {
        const u8 *end = memchr(data + at, 1, size - at);
        size_t part = end ? (size_t)(end - data) - at : size - at;
        serve(s, data + at, part);
        at += part + 1;
    }
    settle(s);
    json_t *dump = dh_hive_dump(dh_hive_engine_lock(s->engine));
    dh_hive_engine_unlock(s->engine);
    dh_hive_server_stop(s);
    check_log(path, dump);
    json_decref(dump);
    unlink(path);
    return 0;
}
