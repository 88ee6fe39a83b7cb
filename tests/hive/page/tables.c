/*
 * tables.c demo|later|hostile - writes a table of pairs to standard output, for a hive that the page is tested with.
 *
 * demo: a server with a few possible races and a bundle; later: its next version, in which one function has changed; hostile: names
 * that try to be something else than names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/pairs.h"

static struct dh_pairs *t;

static u32 site(const char *function, const char *host, const char *file, u32 line, u8 access)
{
    const struct dh_pairs_site s = {
        .module = file,
        .function = function,
        .host = host,
        .at = {.file = file, .dir = "/src/server", .line = line, .column = 5, .declared = line - line % 10},
        .access = access,
        .size = 8,
        .code = 1};
    return dh_pairs_add_site(t, &s);
}

static u32 one(u32 x)
{
    return dh_pairs_add_list(t, &x, 1);
}

static u32 variable(const char *name, const char *path, const char *type)
{
    const struct dh_pairs_variable v = {.storage = DH_PAIRS_GLOBAL,
                                        .name = name,
                                        .path = path,
                                        .type = type,
                                        .function = "",
                                        .at = {.file = "server.c", .dir = "/src/server", .line = 12}};
    return one(dh_pairs_add_variable(t, &v));
}

static u32 thread_of(const char *function)
{
    const struct dh_pairs_entry e = {.kind = DH_PAIRS_THREAD,
                                     .many = true,
                                     .function = function,
                                     .creator = "main",
                                     .api = "pthread_create",
                                     .at = {.file = "server.c", .dir = "/src/server", .line = 210}};
    return one(dh_pairs_add_entry(t, &e));
}

static void pair(u32 a, u32 b, u32 threads, u32 what, u32 locks)
{
    const struct dh_pairs_pair p = {
        .side = {{.site = a, .entries = threads, .locks = locks}, {.site = b, .entries = threads}},
        .variables = what,
        .flags = DH_PAIRS_RELAY,
        .reasons = DH_PAIRS_BY_INSTANCES | (locks ? DH_PAIRS_BY_ONE_UNLOCKED : DH_PAIRS_BY_NO_LOCKS),
        .note = ""};
    dh_pairs_add_pair(t, &p);
}

static void demo(u32 inserted)
{
    const struct dh_pairs_lock queue_lock = {.kind = DH_PAIRS_MUTEX,
                                             .single = true,
                                             .name = "queue_lock",
                                             .at = {.file = "queue.c", .dir = "/src/server", .line = 9}};
    u32 threads = thread_of("worker"), lock = one(dh_pairs_held(dh_pairs_add_lock(t, &queue_lock), false));
    u32 hits = variable("stats", ".hits", "struct stats"),
        bytes = variable("stats", ".bytes", "struct stats");
    u32 head = variable("queue", ".head", "struct queue"), log = variable("log_level", "", "int");
    u32 cache = variable("cache", "[].entry", "struct entry *"),
        done = variable("shutting_down", "", "_Bool");
    u32 read_hits = site("count_hit", "serve_request", "stats.c", 31, DH_PAIRS_READ);
    u32 write_hits = site("count_hit", "serve_request", "stats.c", 31, DH_PAIRS_WRITE);
    pair(read_hits, write_hits, threads, hits, 0);
    pair(site("report_stats", "", "stats.c", 58, DH_PAIRS_READ),
         site("count_bytes", "", "stats.c", 40, DH_PAIRS_WRITE), threads, bytes, 0);
    pair(site("queue_push", "", "queue.c", 24, DH_PAIRS_WRITE),
         site("queue_empty", "", "queue.c", 47 + inserted, DH_PAIRS_READ), threads, head, lock);
    pair(site("set_log_level", "", "log.c", 12, DH_PAIRS_WRITE),
         site("log_message", "", "log.c", 19, DH_PAIRS_READ), threads, log, 0);
    u32 lookup = site("cache_lookup", "", "cache.c", 77, DH_PAIRS_READ);
    pair(lookup, site("cache_evict", "", "cache.c", 103, DH_PAIRS_FREE), threads, cache, 0);
    pair(site("on_signal", "", "server.c", 150, DH_PAIRS_WRITE),
         site("worker", "", "server.c", 188, DH_PAIRS_READ), threads, done, 0);
    struct dh_pairs_pair bundle = {
        .side = {{.site = site("buffer_append", "", "buffer.c", 30, DH_PAIRS_WRITE)},
                 {.site = site("buffer_flush", "", "buffer.c", 61, DH_PAIRS_READ)}},
        .alike = {one(site("buffer_append", "", "buffer.c", 33, DH_PAIRS_WRITE)),
                  one(site("buffer_flush", "", "buffer.c", 66, DH_PAIRS_READ))},
        .flags = DH_PAIRS_RELAY,
        .reasons = DH_PAIRS_BY_MAY_ALIAS,
        .note = ""};
    dh_pairs_add_pair(t, &bundle);
}

static void hostile(void)
{
    char name[400];
    memset(name, 'W', sizeof(name));
    name[sizeof(name) - 1] = 0;
    static const char *const names[] = {
        "<script>window.pwned=1</script>",
        "\"><img src=x onerror=\"window.pwned=2\">",
        "'onmouseover='window.pwned=3",
        "</title></head><body onload=window.pwned=4>",
        "&lt;b&gt;&#60;i&#62;",
        "abc \xe2\x80\xae zyx \xe2\x81\xa6 cba \xd8\x9c",
        "\xff\xfe\x80latin\xe9",
        "`code` %t %n %s",
        "javascript:window.pwned=5",
        "--></style></svg></textarea></option></select><script>window.pwned=6</script>",
    };
    u32 threads = thread_of("<b>thread</b>");
    for (u32 i = 0; i < DH_ARRAY_LEN(names); i++)
        pair(site(names[i], "<u>host</u>", "<i>.c", 20 + 10 * i, DH_PAIRS_WRITE),
             site(names[i], "", "<i>.c", 21 + 10 * i, DH_PAIRS_READ), threads, variable(names[i], "", ""), 0);
    pair(site(name, "", name, 500, DH_PAIRS_WRITE), site(name, "", name, 501, DH_PAIRS_READ), threads,
         variable(name, "", name), 0);
}

int main(int argc, char **argv)
{
    u8 *bytes;
    size_t len;
    if (argc != 2)
        return 2;
    t = dh_pairs_new();
    dh_pairs_set_program(t, argv[1], "test", "");
    if (strcmp(argv[1], "hostile") == 0)
        hostile();
    else
        demo(strcmp(argv[1], "later") == 0 ? 2 : 0);
    dh_pairs_write(t, &bytes, &len);
    fwrite(bytes, 1, len, stdout);
    free(bytes);
    dh_pairs_free(t);
    return 0;
}
