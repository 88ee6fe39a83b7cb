/*
 * url.h - the one question that is asked about an address before a secret is sent to it.
 */
#ifndef DH_UTIL_URL_H
#define DH_UTIL_URL_H

#include "base/base.h"

/* Is this http:// or https:// URL one of this machine: localhost, 127.0.0.0/8 or [::1]? What is sent there
 * can be read by nobody else, provided that it does not go through a proxy. */
bool dh_url_is_local(const char *url);

#endif
