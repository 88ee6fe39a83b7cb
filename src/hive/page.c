/*
 * page.c - see page.h: escaping, the frame of every page, signing in, and common parts of pages.
 */
#include "hive/page.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hive/page_assets.h"
#include "report/html.h"
#include "util/text.h"

/* ---- Escaping ---- */

/* The only way for text into a page: invalid UTF-8 is replaced, control characters and those that change the
 * writing direction become question marks (util/text.h), and HTML's special characters are escaped. */
static void put_text(struct dh_page *p, const char *s, size_t n)
{
    char *text = dh_text_utf8(&p->arena, s, n);
    dh_text_tame(text, strlen(text));
    dh_html_put(p->out, text);
}

static void put_line(struct dh_page *p, const char *s)
{
    for (size_t n; *s; s += n) {
        n = strcspn(s, "\t");
        put_text(p, s, n);
        for (; s[n] == '\t'; n++)
            putc('\t', p->out);
    }
}

static void put_prose(struct dh_page *p, const char *s)
{
    char *text = dh_text_utf8(&p->arena, s, strlen(s));
    dh_text_tame(text, strlen(text));
    dh_html_prose(p->out, text);
}

static void put_url(struct dh_page *p, const char *s)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    for (; *s; s++)
        fprintf(p->out, strchr(plain, *s) ? "%c" : "%%%02X", (u8)*s);
}

/* ---- Numbers ---- */

static void put_number(struct dh_page *p, json_int_t n)
{
    char digits[32];
    int len = snprintf(digits, sizeof(digits), "%" JSON_INTEGER_FORMAT, n < 0 ? -n : n);
    if (n < 0)
        putc('-', p->out);
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            putc(',', p->out);
        putc(digits[i], p->out);
    }
}

static void put_duration(struct dh_page *p, json_int_t us)
{
    static const struct {
        double us;
        const char *unit;
    } units[] = {{86400e6, "d"}, {3600e6, "h"}, {60e6, "min"}, {1e6, "s"}, {1e3, "ms"}};
    for (size_t i = 0; i < DH_ARRAY_LEN(units); i++) {
        double n = (double)us / units[i].us;
        if (n >= 1) {
            fprintf(p->out, "%.*f %s", n < 9.95 ? 1 : 0, n, units[i].unit);
            return;
        }
    }
    fprintf(p->out, us ? "%" JSON_INTEGER_FORMAT " µs" : "0", us);
}

static void put_percent(struct dh_page *p, double x)
{
    double percent = 100 * x;
    fprintf(p->out, "%.*f%%",
            percent > 0 && percent < 10    ? 2
            : percent > 0 && percent < 100 ? 1
                                           : 0,
            percent);
}

static void put_time(struct dh_page *p, json_int_t us, bool day)
{
    char machine[32] = "", shown[32] = "";
    time_t seconds = (time_t)(us / 1000000);
    struct tm t;
    if (gmtime_r(&seconds, &t)) {
        strftime(machine, sizeof(machine), "%Y-%m-%dT%H:%M:%SZ", &t);
        strftime(shown, sizeof(shown), day ? "%Y-%m-%d" : "%Y-%m-%d %H:%M:%S", &t);
    }
    if (day)
        fputs(shown, p->out);
    else
        fprintf(p->out, "<time datetime=\"%s\">%s</time>", machine, shown);
}

void dh_page_put(struct dh_page *p, const char *format, ...)
{
    va_list args;
    const char *s;
    va_start(args, format);
    for (; *format; format++) {
        if (*format != '%') {
            putc(*format, p->out);
            continue;
        }
        switch (*++format) {
        case 't':
            s = va_arg(args, const char *);
            put_text(p, s, strlen(s));
            break;
        case 'l':
            put_line(p, va_arg(args, const char *));
            break;
        case 'p':
            put_prose(p, va_arg(args, const char *));
            break;
        case 'u':
            put_url(p, va_arg(args, const char *));
            break;
        case 'n':
            put_number(p, va_arg(args, json_int_t));
            break;
        case 'i':
            fprintf(p->out, "%" JSON_INTEGER_FORMAT, va_arg(args, json_int_t));
            break;
        case 'd':
            put_duration(p, va_arg(args, json_int_t));
            break;
        case 'o':
            put_percent(p, va_arg(args, double));
            break;
        case 'T':
            put_time(p, va_arg(args, json_int_t), false);
            break;
        case 'D':
            put_time(p, va_arg(args, json_int_t), true);
            break;
        case 'h':
            fputs(va_arg(args, const char *), p->out);
            break;
        default:
            putc('%', p->out);
            break;
        }
    }
    va_end(args);
}

/* ---- Documents ---- */

const char *dh_page_text_in(const json_t *o, const char *member)
{
    const char *s = json_string_value(json_object_get(o, member));
    return s ? s : "";
}

json_int_t dh_page_int_in(const json_t *o, const char *member)
{
    return json_integer_value(json_object_get(o, member));
}

double dh_page_real_in(const json_t *o, const char *member)
{
    return json_number_value(json_object_get(o, member));
}

bool dh_page_true_in(const json_t *o, const char *member)
{
    return json_is_true(json_object_get(o, member));
}

/* ---- The frame ---- */

static void begin_out(struct dh_page *p)
{
    *p = (struct dh_page){0};
    p->out = open_memstream(&p->text, &p->len);
    if (!p->out)
        dh_util_no_memory();
}

static void put_head(struct dh_page *p, const char *title)
{
    dh_page_put(p,
                "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<title>%t - deadheat hive</title>\n"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                "<meta name=\"color-scheme\" content=\"light dark\">\n"
                "<link rel=\"icon\" href=\"%h\">\n<link rel=\"stylesheet\" href=\"%h\">\n"
                "<script src=\"%h\"></script>\n</head>\n<body>\n"
                "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n",
                title, dh_page_asset_path("icon.svg"), dh_page_asset_path("page.css"),
                dh_page_asset_path("page.js"));
}

static void put_link(struct dh_page *p, const char *path, const char *text, bool here)
{
    dh_page_put(p, "<a href=\"%h\"%h>%h</a>", path, here ? " aria-current=\"page\"" : "", text);
}

void dh_page_begin(struct dh_page *p, const char *title, const char *here)
{
    begin_out(p);
    put_head(p, title);
    dh_page_put(
        p,
        "<header class=\"top\"><div class=\"wide\">"
        "<a class=\"brand\" href=\"/\"><span class=\"mark\" aria-hidden=\"true\"></span>deadheat hive</a>"
        "<nav aria-label=\"Pages\">");
    put_link(p, "/", "Races", strcmp(here, "/") == 0);
    put_link(p, "/users", "Users", strcmp(here, "/users") == 0);
    dh_page_put(p,
                "</nav><p id=\"live\" role=\"status\"></p>"
                "<button id=\"theme\" type=\"button\" class=\"quiet\" hidden>Theme: system</button>"
                "<form method=\"post\" action=\"/signout\"><button class=\"quiet\">Sign out</button></form>"
                "</div></header>\n<main id=\"main\" class=\"wide\" tabindex=\"-1\">\n");
}

/* A page stays the same until something on it changes: browsers ask, and get "not modified". */
static void answer(struct dh_page *p, struct dh_hive_request *r, unsigned status)
{
    if (fclose(p->out) != 0)
        dh_util_no_memory();
    dh_arena_done(&p->arena);
    if (status == 200) {
        const char *has = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "If-None-Match");
        snprintf(r->etag, sizeof(r->etag), "\"%016" PRIx64 "\"", dh_util_hash(p->text, p->len));
        r->cache = "private, no-cache";
        if (has && strcmp(has, r->etag) == 0) {
            status = 304;
            p->text[0] = 0;
        }
    }
    dh_hive_answer_text(r, status, "text/html; charset=utf-8", p->text);
}

void dh_page_end(struct dh_page *p, struct dh_hive_request *r, unsigned status)
{
    dh_page_put(p,
                "</main>\n<footer class=\"wide\"><p>Times are UTC. The same as data: "
                "<a href=\"/v1/openapi.json\">the interface of this hive</a>.</p></footer>\n"
                "</body>\n</html>\n");
    answer(p, r, status);
}

/* ---- Signing in ---- */

struct back {
    struct dh_page *p;
    bool more;
};

static enum MHD_Result put_argument(void *ctx, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct back *b = ctx;
    (void)kind;
    dh_page_put(b->p, b->more ? "&amp;%u=%u" : "?%u=%u", name, value ? value : "");
    b->more = true;
    return MHD_YES;
}

void dh_hive_page_refused(struct dh_hive_request *r, unsigned status, const char *sentence)
{
    struct dh_page p;
    struct back back = {&p, false};
    bool may = status == 401 || status == 429;
    begin_out(&p);
    put_head(&p, may ? "Sign in" : "Not available");
    dh_page_put(&p, "<main id=\"main\" class=\"signin\" tabindex=\"-1\">\n<h1>%h</h1>\n",
                may ? "deadheat hive" : "Not available");
    if (*sentence)
        dh_page_put(&p, "<p class=\"wrong\" role=\"alert\">%t</p>\n", sentence);
    if (may) {
        dh_page_put(
            &p,
            "<form method=\"post\" action=\"/signin\">\n<label for=\"token\">Token</label>\n"
            "<input id=\"token\" name=\"token\" type=\"password\" required autofocus "
            "autocomplete=\"current-password\" aria-describedby=\"which\">\n"
            "<p id=\"which\" class=\"dim\">The token that this hive was started with: the "
            "administrator's, or one for reading. Either lets you look; nothing can be changed here.</p>\n"
            "<input type=\"hidden\" name=\"next\" value=\"%t",
            r->back ? r->back : r->path);
        if (!r->back)
            MHD_get_connection_values(r->connection, MHD_GET_ARGUMENT_KIND, put_argument, &back);
        dh_page_put(&p, "\">\n<button>Sign in</button>\n</form>\n");
    } else {
        dh_page_put(&p, "<p><a href=\"/\">All races</a></p>\n");
    }
    dh_page_put(&p, "</main>\n</body>\n</html>\n");
    answer(&p, r, status);
}

/* ---- Parts ---- */

void dh_page_verdict(struct dh_page *p, const json_t *unit)
{
    const char *verdict = dh_page_text_in(unit, "verdict");
    static const struct {
        const char *verdict, *sign, *words;
    } all[] = {{"true-race", "▲", "true race"},
               {"likely-false-positive", "✓", "likely false"},
               {"unknown", "?", "unknown"},
               {"", "▤", "bundle"}};
    for (size_t i = 0; i < DH_ARRAY_LEN(all); i++)
        if (strcmp(all[i].verdict, verdict) == 0)
            dh_page_put(p, "<span class=\"verdict %h\"><span aria-hidden=\"true\">%h</span> %h</span>",
                        *verdict ? all[i].verdict : "bundle", all[i].sign, all[i].words);
}

static const char *function_of(const json_t *site)
{
    const json_t *frame = json_array_get(json_object_get(site, "stack"), 0);
    const char *function = dh_page_text_in(frame, "function");
    return *function ? function : dh_page_text_in(site, "function");
}

void dh_page_name(struct dh_page *p, const json_t *unit)
{
    const char *variable = dh_page_text_in(unit, "variable");
    const json_t *sites = json_object_get(unit, "sites");
    const char *a = function_of(json_array_get(sites, 0)), *b = function_of(json_array_get(sites, 1));
    if (*variable)
        dh_page_put(p, "<code>%t</code>", variable);
    else if (*a && *b)
        dh_page_put(p, "<code>%t</code> and <code>%t</code>", a, b);
    else
        dh_page_put(p, "<code>%t</code>", dh_page_text_in(unit, "id"));
}
