/*
 * net.h - requests to a hive, any number at a time, in one thread; by libcurl.
 *
 * Certificates are verified, redirections are not followed, and answers are limited in size: a hive is
 * trusted with what is sent to it, and with nothing else.
 */
#ifndef DH_AGENT_NET_H
#define DH_AGENT_NET_H

#include <sys/types.h>

#include "base/base.h"

struct dh_agent_net;

/* cacert: a file of certificates to trust in place of the system's; NULL: the system's. NULL: no memory. */
struct dh_agent_net *dh_agent_net_new(const char *cacert);
/* What is under way is broken off, and nobody is told. */
void dh_agent_net_free(struct dh_agent_net *n);

/* status: 0 if there was no answer, of which text says why. */
typedef void dh_agent_answered(void *ctx, long status, const char *text, size_t len);

/* GET, as nobody in particular. */
void dh_agent_net_get(struct dh_agent_net *n, const char *url, const char *key, u64 limit_s,
                      dh_agent_answered *answered, void *ctx);
/* Breaks off whatever would be answered there. Nobody is told. */
void dh_agent_net_drop(struct dh_agent_net *n, const void *ctx);

/* POST of a JSON text. It may take so long. What is given is copied. */
void dh_agent_net_post(struct dh_agent_net *n, const char *url, const char *key, const char *user,
                       const char *body, u64 limit_s, dh_agent_answered *answered, void *ctx);
/* Works until something has happened, one of the descriptors can be read, or the time has passed. */
void dh_agent_net_wait(struct dh_agent_net *n, const int *fds, size_t n_fds, u64 us);

#endif
