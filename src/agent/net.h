/*
 * net.h - requests to a hive, any number at a time, in one thread; by libcurl.
 *
 * Certificates are verified, redirects are not followed, a hive on this machine is not asked through a proxy,
 * and the size of answers is limited: a hive is trusted with what is sent to it, and with nothing else.
 */
#ifndef DH_AGENT_NET_H
#define DH_AGENT_NET_H

#include <sys/types.h>

#include "base/base.h"

struct dh_agent_net;

/* cacert: a file of certificates to trust instead of the system's; NULL: the system's. NULL: out of
 * memory. */
struct dh_agent_net *dh_agent_net_new(const char *cacert);
/* Requests in progress are aborted, without a callback. */
void dh_agent_net_free(struct dh_agent_net *n);

/* status: 0 if there was no answer; text then says why. */
typedef void dh_agent_answered(void *ctx, long status, const char *text, size_t len);

/* GET, without identification. */
void dh_agent_net_get(struct dh_agent_net *n, const char *url, const char *key, u64 limit_s,
                      dh_agent_answered *answered, void *ctx);
/* Aborts all requests with this context, without a callback. */
void dh_agent_net_drop(struct dh_agent_net *n, const void *ctx);

/* POSTs a JSON text, with this timeout. The arguments are copied. */
void dh_agent_net_post(struct dh_agent_net *n, const char *url, const char *key, const char *user,
                       const char *body, u64 limit_s, dh_agent_answered *answered, void *ctx);
/* Works until something has happened, one of the descriptors is readable, or the time is over. */
void dh_agent_net_wait(struct dh_agent_net *n, const int *fds, size_t n_fds, u64 us);

#endif
