/*
 * hive_remote.c - `hive add` and `hive key` through a hive's interface (openapi.json), with the
 * administrator's token: for those who cannot open its database.
 *
 * The token is a secret, so it is sent to another machine only encrypted, is read from a file and never put
 * on a command line, and is not sent to the target of a redirect.
 */
#include <curl/curl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "caper/build.h"
#include "cli/cmd.h"
#include "cli/hive.h"
#include "hive/http.h"
#include "util/lines.h"
#include "util/path.h"
#include "util/url.h"

enum { MOST_TABLE = 256 << 20, MOST_ANSWER = 1 << 20, MOST_TOKEN = 1 << 16, CONNECT_S = 30, SILENT_S = 60 };

struct remote {
    struct dh_cli_hive *c;
    CURL *curl;
    struct curl_slist *headers;
    char why[CURL_ERROR_SIZE];
    char *text; /* the answer */
    size_t len;
};

static size_t take(char *bytes, size_t size, size_t n, void *ctx)
{
    struct remote *r = ctx;
    if (size * n > MOST_ANSWER - r->len)
        return 0;
    r->text = dh_util_realloc(r->text, r->len + size * n + 1);
    memcpy(r->text + r->len, bytes, size * n);
    r->len += size * n;
    r->text[r->len] = 0;
    return size * n;
}

static int add_token(struct remote *r)
{
    struct dh_cli_hive *c = r->c;
    char *text;
    size_t len;
    if (!c->token)
        return dh_cli_fail(c->command,
                           "a hive's interface needs the administrator's token: --admin-token-file=FILE");
    int rc = dh_lines_load(c->token, MOST_TOKEN, &text, &len);
    if (rc)
        return dh_cli_fail(c->command, "cannot read '%s': %s", c->token, strerror(-rc));
    char *header = dh_arena_printf(&c->arena, "Authorization: Bearer %.*s", (int)strcspn(text, "\r\n"), text);
    free(text);
    r->headers = curl_slist_append(NULL, header);
    if (!r->headers)
        dh_util_no_memory();
    return 0;
}

static int connect_to(struct dh_cli_hive *c, struct remote *r)
{
    *r = (struct remote){.c = c};
    if (strncmp(c->hive, "https://", 8) != 0 && !dh_url_is_local(c->hive) && !c->insecure)
        return dh_cli_fail(c->command, "'%s' would get the token unencrypted: use https://, or --insecure",
                           c->hive);
    int rc = add_token(r);
    if (rc)
        return rc;
    r->curl = curl_easy_init();
    if (!r->curl)
        dh_util_no_memory();
    curl_easy_setopt(r->curl, CURLOPT_ERRORBUFFER, r->why);
    curl_easy_setopt(r->curl, CURLOPT_HTTPHEADER, r->headers);
    curl_easy_setopt(r->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    if (dh_url_is_local(c->hive))
        curl_easy_setopt(r->curl, CURLOPT_PROXY, ""); /* whatever the environment says */
    curl_easy_setopt(r->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(r->curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    curl_easy_setopt(r->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(r->curl, CURLOPT_LOW_SPEED_TIME, (long)SILENT_S);
    curl_easy_setopt(r->curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(r->curl, CURLOPT_WRITEDATA, r);
    if (c->cert)
        curl_easy_setopt(r->curl, CURLOPT_CAINFO, c->cert);
    return 0;
}

static void disconnect(struct remote *r)
{
    curl_slist_free_all(r->headers);
    if (r->curl)
        curl_easy_cleanup(r->curl);
    free(r->text);
}

/* body NULL: a GET. 0 and an object, or the exit status after a message. */
static int ask(struct remote *r, const char *path, const void *body, size_t len, json_t **ret)
{
    struct dh_cli_hive *c = r->c;
    long status = 0;
    size_t n = strlen(c->hive);
    char *url =
        dh_arena_printf(&c->arena, "%.*s%s", (int)(n && c->hive[n - 1] == '/' ? n - 1 : n), c->hive, path);
    curl_easy_setopt(r->curl, CURLOPT_URL, url);
    if (body) {
        curl_easy_setopt(r->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
        curl_easy_setopt(r->curl, CURLOPT_POSTFIELDS, body);
    } else {
        curl_easy_setopt(r->curl, CURLOPT_HTTPGET, 1L);
    }
    r->len = 0;
    if (curl_easy_perform(r->curl) != CURLE_OK)
        return dh_cli_fail(c->command, "cannot ask the hive at '%s': %s", c->hive,
                           *r->why ? r->why : "unknown");
    curl_easy_getinfo(r->curl, CURLINFO_RESPONSE_CODE, &status);
    json_t *answer = json_loadb(r->text ? r->text : "", r->len, 0, NULL);
    if (status < 300 && json_is_object(answer)) {
        *ret = answer;
        return 0;
    }
    const char *error = json_string_value(json_object_get(answer, "error"));
    int rc = error ? dh_cli_fail(c->command, "the hive at '%s': %s", c->hive, error)
                   : dh_cli_fail(c->command, "there is no hive at '%s' (status %ld)", c->hive, status);
    json_decref(answer);
    return rc;
}

/* ---- Keys ---- */

static int make_key(struct remote *r, const char *program)
{
    json_t *answer = NULL, *wanted = json_pack("{s:s}", "program", program);
    char *body = wanted ? json_dumps(wanted, 0) : NULL;
    if (!body) /* not a valid program name: the hive would say the same */
        return dh_cli_fail(r->c->command, "there is no such program");
    int rc = ask(r, "/v1/keys", body, strlen(body), &answer);
    if (!rc)
        printf("%s: key %lld, shown once: %s\n", program,
               (long long)json_integer_value(json_object_get(answer, "number")),
               json_string_value(json_object_get(answer, "key")));
    json_decref(answer);
    json_decref(wanted);
    free(body);
    return rc;
}

static int revoke_key(struct remote *r, const char *program, const char *number)
{
    json_t *answer = NULL,
           *wanted = json_pack("{s:s, s:I}", "program", program, "number", (json_int_t)atoll(number));
    char *body = wanted ? json_dumps(wanted, 0) : NULL;
    if (!body)
        return dh_cli_fail(r->c->command, "the program has no such key");
    int rc = ask(r, "/v1/keys/revoke", body, strlen(body), &answer);
    if (!rc)
        printf("%s: key %s is revoked\n", program, number);
    json_decref(answer);
    json_decref(wanted);
    free(body);
    return rc;
}

int dh_cli_hive_remote_key(struct dh_cli_hive *c)
{
    struct remote r;
    int rc = connect_to(c, &r);
    if (!rc)
        rc = c->revoke ? revoke_key(&r, c->program, c->revoke) : make_key(&r, c->program);
    disconnect(&r);
    return rc;
}

/* ---- Builds ---- */

/* Prints what the hive has of it now. The first build of a program gets a key. */
static int tell(struct remote *r, const char *program, const char *build, bool is_new)
{
    json_t *answer, *item;
    size_t i;
    int rc = ask(r, dh_arena_printf(&r->c->arena, "/v1/builds?program=%s", program), NULL, 0, &answer);
    if (rc)
        return rc;
    json_t *builds = json_object_get(answer, "builds");
    json_array_foreach(builds, i, item)
    {
        const char *id = json_string_value(json_object_get(item, "build"));
        if (id && strcmp(id, build) == 0)
            printf("%s: build %s %s: %lld candidates and bundles\n", program, build,
                   is_new ? "added" : "is there already",
                   (long long)json_integer_value(json_object_get(item, "units")));
    }
    bool first = is_new && json_array_size(builds) == 1;
    json_decref(answer);
    return first ? make_key(r, program) : 0;
}

static int add_source(struct remote *r, const char *path, const char *program,
                      const struct dh_caper_build *build)
{
    struct dh_cli_source_count lines;
    json_t *answer;
    char *text = dh_cli_hive_source(r->c, path, build, &lines);
    if (!text)
        return DH_EXIT_TROUBLE;
    char *where = dh_arena_printf(&r->c->arena, "/v1/source?build=%s", build->id_text);
    int rc = ask(r, where, text, strlen(text), &answer);
    free(text);
    if (rc)
        return rc;
    dh_cli_hive_source_print(program, &lines, json_is_true(json_object_get(answer, "new")));
    json_decref(answer);
    return 0;
}

static int add_symbols(struct remote *r, const char *path, const struct dh_caper_build *build)
{
    json_t *answer = NULL;
    size_t len;
    char *text = dh_cli_hive_symbols(r->c, path, &len);
    char *where = dh_arena_printf(&r->c->arena, "/v1/symbols?build=%s", build->id_text);
    int rc = text ? ask(r, where, text, len, &answer) : 0;
    free(text);
    json_decref(answer);
    return rc;
}

static int add_file(struct remote *r, const char *path)
{
    struct dh_cli_hive *c = r->c;
    struct dh_caper_build build;
    const char *program = c->program ? c->program : dh_path_base(path);
    json_t *answer;
    int rc = dh_cli_hive_build(c, path, &build);
    if (rc)
        return rc;
    if (build.n_bytes > MOST_TABLE)
        return dh_cli_fail(c->command, "the table of '%s' has %zu bytes, and a hive takes up to %d", path,
                           build.n_bytes, MOST_TABLE);
    char *name = curl_easy_escape(r->curl, program, 0);
    if (!name)
        dh_util_no_memory();
    char *where = dh_arena_printf(&c->arena, "/v1/builds?program=%s&build=%s%s%s", name, build.id_text,
                                  c->style ? "&style=" : "", c->style ? c->style : "");
    curl_free(name);
    rc = ask(r, where, build.bytes, build.n_bytes, &answer);
    if (rc)
        return rc;
    bool is_new = json_is_true(json_object_get(answer, "new"));
    json_decref(answer);
    rc = tell(r, program, build.id_text, is_new);
    if (!rc)
        dh_cli_hive_say_kept(c, is_new);
    if (!rc)
        rc = add_symbols(r, path, &build);
    return !rc && c->source ? add_source(r, path, program, &build) : rc;
}

int dh_cli_hive_remote_add(struct dh_cli_hive *c)
{
    struct remote r;
    int rc = connect_to(c, &r);
    for (size_t i = 0; !rc && i < c->n_files; i++)
        rc = add_file(&r, c->files[i]);
    disconnect(&r);
    return rc;
}
