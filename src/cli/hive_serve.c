/*
 * hive_serve.c - `deadheat hive serve`: starts the service, and stops it when told to.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/cmd.h"
#include "cli/hive.h"
#include "hive/http.h"
#include "hive/secret.h"
#include "util/lines.h"

enum { MAX_PEM = 1 << 20, SHORTEST_TOKEN = 16 };

static bool is_address(const char *text)
{
    struct in6_addr any; /* large enough for both */
    return inet_pton(AF_INET, text, &any) == 1 || inet_pton(AF_INET6, text, &any) == 1;
}

/* "127.0.0.1:7070" or "[::1]:7070". */
static int read_address(struct dh_cli_hive *c, struct dh_hive_serve *how)
{
    const char *text = c->listen ? c->listen : "127.0.0.1:7070", *colon = strrchr(text, ':');
    char *end = NULL;
    unsigned long port = colon && colon[1] >= '0' && colon[1] <= '9' ? strtoul(colon + 1, &end, 10) : 0;
    bool brackets = colon && text[0] == '[' && colon[-1] == ']';
    if (colon)
        how->address = brackets ? dh_arena_dup(&c->arena, text + 1, (size_t)(colon - text) - 2)
                                : dh_arena_dup(&c->arena, text, (size_t)(colon - text));
    if (!end || *end || port > 65535 || !is_address(how->address))
        return dh_cli_fail(c->command,
                           "--listen cannot be '%s'; it must be an address and a port, such as "
                           "127.0.0.1:7070",
                           text);
    how->port = (u16)port;
    return 0;
}

static int load(struct dh_cli_hive *c, const char *path, const char **ret)
{
    char *text;
    size_t len;
    int rc = dh_lines_load(path, MAX_PEM, &text, &len);
    if (rc)
        return dh_cli_fail(c->command, "cannot read '%s': %s", path, strerror(-rc));
    *ret = dh_arena_dup(&c->arena, text, len);
    free(text);
    return 0;
}

static int read_token(struct dh_cli_hive *c, const char *path, const char **ret)
{
    const char *text;
    int rc = load(c, path, &text);
    size_t len = rc ? 0 : strcspn(text, "\r\n");
    if (!rc && len < SHORTEST_TOKEN)
        return dh_cli_fail(c->command,
                           "the token in '%s' is too short: it needs at least %d characters, such as "
                           "'openssl rand -hex 32' prints",
                           path, SHORTEST_TOKEN);
    if (!rc) {
        char *hash = dh_arena_alloc(&c->arena, 65);
        dh_hive_secret_hash(text, len, hash);
        *ret = hash;
    }
    return rc;
}

static int read_number(struct dh_cli_hive *c, const char *flag, const char *text, double most, double *ret)
{
    char *end = NULL;
    double value = text[0] >= '0' && text[0] <= '9' ? strtod(text, &end) : -1;
    if (!end || *end || value <= 0 || value > most)
        return dh_cli_fail(c->command, "%s cannot be '%s'; it must be a number up to %.0f", flag, text, most);
    *ret = value;
    return 0;
}

/* Each connection is an open file, and the usual limit is 1,024 of them. */
static void raise_files(struct dh_cli_hive *c, struct dh_hive_serve *how)
{
    enum { OTHERS = 64 };
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    rlim_t wanted = (rlim_t)how->connections + OTHERS;
    if (files.rlim_cur < wanted) {
        files.rlim_cur = wanted < files.rlim_max ? wanted : files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (files.rlim_cur >= wanted)
        return;
    how->connections = (unsigned)(files.rlim_cur > 2 * OTHERS ? files.rlim_cur - OTHERS : files.rlim_cur / 2);
    dh_cli_warn(c->command,
                "this process may open %llu files, so there are at most %u connections at once (ulimit -n)",
                (unsigned long long)files.rlim_cur, how->connections);
}

static int read_how(struct dh_cli_hive *c, struct dh_hive_policy *policy, struct dh_hive_serve *how)
{
    double bound = 0, connections = 0, snapshot = 0;
    int rc = read_address(c, how);
    if (!rc && !c->cert != !c->key)
        rc = dh_cli_fail(c->command,
                         "a certificate needs its key, and a key its certificate: --cert and --key");
    if (!rc && c->cert)
        rc = load(c, c->cert, &how->cert);
    if (!rc && c->key)
        rc = load(c, c->key, &how->key);
    if (!rc && c->token)
        rc = read_token(c, c->token, &how->admin);
    if (!rc && c->reader)
        rc = read_token(c, c->reader, &how->reader);
    if (!rc && c->rate)
        rc = read_number(c, "--rate", c->rate, 1e6, &how->rate);
    if (!rc && c->bound)
        rc = read_number(c, "--bound", c->bound, 1e7, &bound);
    if (!rc && c->connections)
        rc = read_number(c, "--connections", c->connections, 1e6, &connections);
    if (!rc && c->timeout)
        rc = read_number(c, "--timeout", c->timeout, 86400, &how->patience_s);
    if (!rc && c->snapshot)
        rc = read_number(c, "--snapshot", c->snapshot, 1e15, &snapshot);
    if (snapshot)
        how->snapshot_events = snapshot < 1 ? 1 : (u64)snapshot;
    if (connections)
        how->connections = connections < 4 ? 4 : (unsigned)connections;
    if (bound)
        policy->settings.bound_us = (u64)(bound * 1e6);
    if (!rc && !c->cert && !c->insecure && !dh_hive_is_loopback(how->address))
        rc = dh_cli_fail(c->command,
                         "'%s' can be reached from other machines, and keys and results would go there "
                         "unencrypted: give --cert and --key, or --insecure",
                         how->address);
    return rc;
}

int dh_cli_hive_serve(struct dh_cli_hive *c)
{
    struct dh_hive_policy policy = dh_hive_racemob;
    struct dh_hive_serve how = {.db = c->db,
                                .address = "",
                                .rate = 20,
                                .connections = 8192,
                                .patience_s = 30,
                                .snapshot_events = 200000,
                                .policy = &policy};
    struct dh_hive_server *server;
    char *why = NULL;
    sigset_t ends;
    int which, rc = read_how(c, &policy, &how);
    if (rc)
        return rc;
    raise_files(c, &how);
    sigemptyset(&ends); /* in all threads, so that sigwait gets them */
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a full database is an error of the store, and does not end the service */
    if (dh_hive_server_start(&how, &server, &why) != 0) {
        rc = dh_cli_fail(c->command, "cannot serve '%s' on %s: %s", dh_cli_hive_shown(c),
                         c->listen ? c->listen : how.address, why ? why : "unknown");
        free(why);
        return rc;
    }
    bool v6 = strchr(how.address, ':') != NULL;
    printf("deadheat hive: serving on %s://%s%s%s:%u\n", how.cert ? "https" : "http", v6 ? "[" : "",
           how.address, v6 ? "]" : "", dh_hive_server_port(server));
    if (!how.admin && !how.reader)
        printf("deadheat hive: without --admin-token-file only agents are served\n");
    fflush(stdout);
    sigwait(&ends, &which);
    printf("deadheat hive: stopping\n");
    fflush(stdout);
    dh_hive_server_stop(server);
    return 0;
}
