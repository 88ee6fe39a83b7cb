/*
 * session.c - signing in on the page. The administrator's or the reader's token is exchanged for a cookie.
 *
 * A session can read but never change anything: a cookie is valid for GET only (http.c), so that no other
 * site can make a browser do anything here. It is stored only in the cookie, which contains its expiry time
 * and is signed with a key derived from the token: all hives over one store accept it, and none does once the
 * token has changed. The name of the cookie is derived from the token, too, since browsers share cookies
 * between the ports of a host.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hive/secret.h"
#include "hive/server.h"

enum { SESSION_S = 12 * 3600, NAME = 40 };

/* ---- Cookies ---- */

static const char *cookie_name(const struct dh_hive_serve *how, const char *token, char to[NAME])
{
    char sign[65];
    dh_hive_secret_sign(token, "the name of a cookie", sign);
    snprintf(to, NAME, "%sdeadheat_%.8s", how->cert ? "__Host-" : "", sign);
    return to;
}

static void sign_session(const char *token, u64 until_s, char ret[65])
{
    char text[64];
    snprintf(text, sizeof(text), "a session until %" PRIu64, until_s);
    dh_hive_secret_sign(token, text, ret);
}

/* "SECONDS.SIGNATURE" */
static bool is_valid(struct dh_hive_request *r, const char *token)
{
    char name[NAME], sign[65], *end;
    const char *value = MHD_lookup_connection_value(r->connection, MHD_COOKIE_KIND,
                                                    cookie_name(&r->server->how, token, name));
    if (!value || value[0] < '0' || value[0] > '9')
        return false;
    u64 until_s = strtoull(value, &end, 10);
    if (*end != '.' || strlen(end + 1) != 64 || until_s < dh_hive_now_us() / 1000000)
        return false;
    sign_session(token, until_s, sign);
    return dh_hive_secret_equal(sign, end + 1);
}

bool dh_hive_session_valid(struct dh_hive_request *r)
{
    const struct dh_hive_serve *how = &r->server->how;
    return (how->admin && is_valid(r, how->admin)) || (how->reader && is_valid(r, how->reader));
}

static void set_cookie(struct dh_hive_request *r, size_t which, const char *token, bool end)
{
    char name[NAME], sign[65], value[96] = "";
    u64 until_s = dh_hive_now_us() / 1000000 + SESSION_S;
    sign_session(token, until_s, sign);
    if (!end)
        snprintf(value, sizeof(value), "%" PRIu64 ".%s", until_s, sign);
    snprintf(r->cookie[which], sizeof(r->cookie[which]),
             "%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Lax%s", cookie_name(&r->server->how, token, name),
             value, end ? 0 : SESSION_S, r->server->how.cert ? "; Secure" : "");
}

/* ---- Forms ---- */

/* A field of a form, not decoded yet; NULL: there is none. */
static char *field(struct dh_hive_request *r, const char *name)
{
    size_t n = strlen(name);
    for (char *at = r->body; *at; at += strlen(at) + 1)
        if (strncmp(at, name, n) == 0 && at[n] == '=')
            return at + n + 1;
    return NULL;
}

/* In place. */
static const char *decode(char *text)
{
    for (char *c = text; c && *c; c++)
        *c = *c == '+' ? ' ' : *c;
    if (text)
        MHD_http_unescape(text);
    return text ? text : "";
}

/* Splits fields into strings; an empty one follows the last. */
static void split_form(struct dh_hive_request *r)
{
    if (!r->body || strlen(r->body) != r->len) /* no body, or it contains NUL bytes */
        r->len = 0;
    r->body = dh_util_realloc(r->body, r->len + 2);
    r->body[r->len] = r->body[r->len + 1] = 0;
    for (size_t i = 0; i < r->len; i++)
        if (r->body[i] == '&')
            r->body[i] = 0;
}

/* Redirects only go to this hive's own pages. */
static bool is_own_path(const char *path)
{
    if (path[0] != '/' || path[1] == '/' || path[1] == '\\')
        return false;
    for (; *path; path++)
        if (*path <= ' ' || *path >= 0x7f || *path == '\\')
            return false;
    return true;
}

static void lead_to(struct dh_hive_request *r, const char *path)
{
    r->location = strdup(path);
    char *text = strdup("");
    if (!r->location || !text)
        dh_util_no_memory();
    dh_hive_answer_text(r, 303, "text/plain", text);
}

/* Browsers say where a form was sent from. */
static bool is_own_form(struct dh_hive_request *r)
{
    const char *from = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Sec-Fetch-Site");
    return !from || strcmp(from, "same-origin") == 0 || strcmp(from, "none") == 0;
}

void dh_hive_session_begin(struct dh_hive_request *r)
{
    const struct dh_hive_serve *how = &r->server->how;
    char hash[65];
    split_form(r);
    char *fields[2] = {field(r, "next"), field(r, "token")};
    const char *next = decode(fields[0]), *token = decode(fields[1]);
    dh_hive_secret_hash(token, strcspn(token, " \t\r\n"), hash); /* as pasted */
    r->back = is_own_path(next) ? next : "/";
    const char *fits = how->admin && dh_hive_secret_equal(how->admin, hash)     ? how->admin
                       : how->reader && dh_hive_secret_equal(how->reader, hash) ? how->reader
                                                                                : NULL;
    if (!how->admin && !how->reader) {
        dh_hive_page_refused(r, 403, "this hive has no administrator: start it with --admin-token-file");
    } else if (!is_own_form(r)) {
        dh_hive_page_refused(r, 403, "this form was sent from another site");
    } else if (fits) {
        set_cookie(r, 0, fits, false);
        lead_to(r, r->back);
    } else if (dh_hive_may_guess(r)) {
        dh_hive_page_refused(r, 401, "This is not a token of this hive.");
    } else {
        dh_hive_page_refused(r, 429, "Too many attempts. Wait a little, then try again.");
    }
}

void dh_hive_session_there(struct dh_hive_request *r)
{
    lead_to(r, "/");
}

void dh_hive_session_end(struct dh_hive_request *r)
{
    const struct dh_hive_serve *how = &r->server->how;
    if (!is_own_form(r)) {
        dh_hive_page_refused(r, 403, "this form was sent from another site");
        return;
    }
    if (how->admin)
        set_cookie(r, 0, how->admin, true);
    if (how->reader)
        set_cookie(r, 1, how->reader, true);
    lead_to(r, "/");
}
