/*
 * url.c - see url.h.
 */
#include "util/url.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static bool is_local_host(const char *host)
{
    struct in_addr v4;
    return strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
           (inet_pton(AF_INET, host, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127);
}

bool dh_url_is_local(const char *url)
{
    char host[64];
    size_t scheme = strncmp(url, "https://", 8) == 0 ? 8 : strncmp(url, "http://", 7) == 0 ? 7 : 0;
    const char *at = url + scheme;
    size_t n = strcspn(at, *at == '[' ? "]/@" : ":/@");
    n += at[n] == ']';
    if (!scheme || n >= sizeof(host))
        return false;
    snprintf(host, sizeof(host), "%.*s", (int)n, at);
    at += n;
    at +=
        *at == ':' ? 1 + strspn(at + 1, "0123456789") : 0; /* a port; before an '@' it would be a password */
    return (!*at || *at == '/') && is_local_host(host);
}
