/*
 * http.h - the hive on the network: HTTP/1.1 by libmicrohttpd, with TLS if it has a certificate.
 */
#ifndef DH_HIVE_HTTP_H
#define DH_HIVE_HTTP_H

#include "hive/policy.h"

struct dh_hive_serve {
    const char *db;
    const char *address;    /* numeric */
    u16 port;               /* 0: any that is free */
    const char *cert, *key; /* PEM; NULL: no TLS */
    const char *admin;      /* SHA-256 of the administrator's token, in hexadecimal; NULL: there is none */
    const char *reader;     /* the same for a token that may only read */
    double rate;            /* requests per second from one user */
    unsigned connections;   /* at once; half of them from one address */
    double patience_s;      /* for a request, an answer, or an idle connection */
    u64 snapshot_events;    /* see dh_hive_engine_start */
    const struct dh_hive_policy *policy;
};

struct dh_hive_server;

/* Without TLS, only these may be listened on. */
bool dh_hive_is_loopback(const char *address);
/* 0, or a negative errno and a message from malloc. */
int dh_hive_server_start(const struct dh_hive_serve *how, struct dh_hive_server **ret, char **ret_why);
u16 dh_hive_server_port(const struct dh_hive_server *s);
/* Answers the requests in progress, and stops. */
void dh_hive_server_stop(struct dh_hive_server *s);

#endif
