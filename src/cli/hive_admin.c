/*
 * hive_admin.c - operations on a hive's database: `add`, `key`, `forget`, `status`, `backup`. All of them may
 * be used while it is being served: the server sees what they append to the log.
 */
#include <stdlib.h>
#include <string.h>

#include "caper/build.h"
#include "cli/cmd.h"
#include "cli/hive.h"
#include "hive/secret.h"
#include "hive/view.h"
#include "report/table.h"
#include "store/store.h"
#include "util/path.h"

static void hide(char *text, size_t n)
{
    memset(text, '*', n);
}

/* As libpq reads it: postgres://USER:PASSWORD@HOST/NAME?password=PASSWORD&sslpassword=PASSWORD */
const char *dh_cli_hive_shown(struct dh_cli_hive *c)
{
    if (!dh_store_is_remote(c->db))
        return c->db;
    char *text = dh_arena_strdup(&c->arena, c->db);
    char *user = strstr(text, "://") + 3, *end = user + strcspn(user, "@/");
    char *colon = *end == '@' ? memchr(user, ':', (size_t)(end - user)) : NULL;
    if (colon)
        hide(colon + 1, (size_t)(end - colon) - 1);
    for (char *at = text; (at = strstr(at, "password=")); at += strlen("password="))
        hide(at + strlen("password="), strcspn(at + strlen("password="), "&"));
    return text;
}

int dh_cli_hive_open(struct dh_cli_hive *c, bool create, struct dh_hive_engine **ret)
{
    char *why = NULL;
    if (dh_hive_engine_start(c->db, create, &dh_hive_racemob, 0, NULL, NULL, ret, &why) == 0)
        return 0;
    int rc =
        dh_cli_fail(c->command, "cannot use the hive '%s': %s", dh_cli_hive_shown(c), why ? why : "unknown");
    free(why);
    return rc;
}

void dh_cli_hive_close(struct dh_hive_engine *e)
{
    dh_hive_engine_stop(e);
    dh_hive_engine_free(e);
}

int dh_cli_hive_stored(struct dh_cli_hive *c, bool stored, enum dh_hive_status status, const char *why)
{
    if (!stored)
        return dh_cli_fail(c->command, "the hive '%s' cannot be written", dh_cli_hive_shown(c));
    return status >= DH_HIVE_BAD ? dh_cli_fail(c->command, "%s", why) : 0;
}

/* ---- Builds and keys ---- */

struct change {
    struct dh_cli_hive *c;
    const struct dh_caper_build *build;
    const char *program;
    u32 number; /* of a key */
    bool wants_key;
    char key[DH_HIVE_SECRET + 1];
    enum dh_hive_status status;
    const char *why;
    size_t units, bundles, known;
    char *source; /* NULL: not wanted */
    enum dh_hive_status source_status;
    char *symbols; /* NULL: there are too many */
    size_t n_symbols;
};

/* Does it have a result from another build? */
static bool is_known(const struct dh_hive_unit *u, u32 build)
{
    for (size_t i = 0; i < u->n_records; i++)
        if (u->records[i].build != build)
            return true;
    return false;
}

static void count_units(struct change *x, const struct dh_hive_state *s)
{
    u32 at = dh_hive_find_build(s, x->build->id_text);
    const struct dh_hive_build *b = &s->builds[at];
    for (size_t i = 0; i < b->n_slots; i++) {
        const struct dh_hive_unit *u = &s->units[b->slots[i].unit];
        x->units += !u->bundle;
        x->bundles += u->bundle;
        x->known += is_known(u, at);
    }
}

static void make_key(struct dh_hive_batch *b, struct change *x)
{
    char hash[65];
    dh_hive_secret_new(x->key);
    dh_hive_secret_hash(x->key, strlen(x->key), hash);
    x->status = dh_hive_add_key(b, x->program, hash, &x->number, &x->why);
}

static void work_add(struct dh_hive_batch *b, void *ctx)
{
    struct change *x = ctx;
    x->status = dh_hive_add_build(b, x->program, x->build->id_text, x->c->style, x->build->bytes,
                                  x->build->n_bytes, &x->why);
    if (x->status >= DH_HIVE_BAD)
        return;
    count_units(x, b->state);
    enum dh_hive_status status = x->status;
    if (x->symbols)
        x->source_status = dh_hive_add_symbols(b, x->build->id_text, x->symbols, x->n_symbols, &x->why);
    if (x->source && x->source_status < DH_HIVE_BAD)
        x->source_status = dh_hive_add_source(b, x->build->id_text, x->source, strlen(x->source), &x->why);
    if (x->source_status >= DH_HIVE_BAD) {
        x->status = x->source_status;
        return;
    }
    x->wants_key = b->state->programs[dh_hive_find_program(b->state, x->program)].n_keys == 0;
    if (x->wants_key)
        make_key(b, x);
    x->status = status;
}

static int add_file(struct dh_cli_hive *c, struct dh_hive_engine *e, const char *path)
{
    struct dh_caper_build build;
    int rc = dh_cli_hive_build(c, path, &build);
    if (rc)
        return rc;
    struct change x = {.c = c, .build = &build, .program = c->program ? c->program : dh_path_base(path)};
    struct dh_cli_source_count lines;
    if (c->source && !(x.source = dh_cli_hive_source(c, path, &build, &lines)))
        return DH_EXIT_TROUBLE;
    x.symbols = dh_cli_hive_symbols(c, path, &x.n_symbols);
    bool stored = dh_hive_engine_run(e, work_add, &x);
    free(x.source);
    free(x.symbols);
    rc = dh_cli_hive_stored(c, stored, x.status, x.why);
    if (rc)
        return rc;
    printf("%s: build %s %s: %zu candidate%s, %zu bundle%s", x.program, build.id_text,
           x.status == DH_HIVE_CREATED ? "added" : "is there already", x.units, x.units == 1 ? "" : "s",
           x.bundles, x.bundles == 1 ? "" : "s");
    if (x.known)
        printf("; %zu known from other builds", x.known);
    putchar('\n');
    dh_cli_hive_say_kept(c, x.status == DH_HIVE_CREATED);
    if (c->source)
        dh_cli_hive_source_print(x.program, &lines, x.source_status != DH_HIVE_OK);
    if (x.wants_key)
        printf("%s: key %u, shown once: %s\n", x.program, x.number, x.key);
    return 0;
}

int dh_cli_hive_add(struct dh_cli_hive *c)
{
    struct dh_hive_engine *e;
    if (!c->n_files)
        return dh_cli_fail(c->command, "which program? For example: deadheat hive add --db=hive.db ./server");
    if (c->hive)
        return dh_cli_hive_remote_add(c);
    int rc = dh_cli_hive_open(c, true, &e);
    if (rc)
        return rc;
    for (size_t i = 0; !rc && i < c->n_files; i++)
        rc = add_file(c, e, c->files[i]);
    dh_cli_hive_close(e);
    return rc;
}

static void work_key(struct dh_hive_batch *b, void *ctx)
{
    struct change *x = ctx;
    if (x->c->revoke)
        x->status = dh_hive_revoke_key(b, x->program, x->number, &x->why);
    else
        make_key(b, x);
}

int dh_cli_hive_key(struct dh_cli_hive *c)
{
    struct dh_hive_engine *e;
    if (!c->program)
        return dh_cli_fail(c->command, "of which program? Give --program=NAME");
    if (c->hive)
        return dh_cli_hive_remote_key(c);
    int rc = dh_cli_hive_open(c, false, &e);
    if (rc)
        return rc;
    struct change x = {
        .c = c, .program = c->program, .number = c->revoke ? (u32)strtoul(c->revoke, NULL, 10) : 0};
    bool stored = dh_hive_engine_run(e, work_key, &x);
    rc = dh_cli_hive_stored(c, stored, x.status, x.why);
    if (!rc && c->revoke)
        printf("%s: key %u is revoked\n", c->program, x.number);
    else if (!rc)
        printf("%s: key %u, shown once: %s\n", c->program, x.number, x.key);
    dh_cli_hive_close(e);
    return rc;
}

/* ---- Forgetting, backup ---- */

static void work_forget(struct dh_hive_batch *b, void *ctx)
{
    struct change *x = ctx;
    struct dh_cli_hive *c = x->c;
    const char *user = NULL;
    char *end = NULL;
    u64 n = c->user ? strtoull(c->user, &end, 10) : 0;
    if (c->user && *c->user && !*end && n < b->state->n_users)
        user = b->state->users[n].hash;
    x->status = dh_hive_forget(b, c->program, c->candidate, c->build, user, &x->why);
}

int dh_cli_hive_forget(struct dh_cli_hive *c)
{
    struct dh_hive_engine *e;
    struct change x = {.c = c};
    if (!c->build + !c->user + !c->candidate != 2 || (c->candidate && !c->program))
        return dh_cli_fail(c->command,
                           "what? One of --build=ID, --user=NUMBER, and --candidate=ID with --program=NAME");
    int rc = dh_cli_hive_open(c, false, &e);
    if (rc)
        return rc;
    bool stored = dh_hive_engine_run(e, work_forget, &x);
    rc = dh_cli_hive_stored(c, stored, x.status, x.why);
    dh_cli_hive_close(e);
    return rc;
}

int dh_cli_hive_backup(struct dh_cli_hive *c)
{
    char *why = NULL;
    if (!c->output)
        return dh_cli_fail(c->command, "to which file? Give -o FILE");
    if (dh_hive_engine_backup(c->db, c->output, &why) == 0)
        return 0;
    int rc = dh_cli_fail(c->command, "cannot copy '%s' to '%s': %s", dh_cli_hive_shown(c), c->output,
                         why ? why : "unknown");
    free(why);
    return rc;
}

/* ---- Status ---- */

int dh_cli_hive_status(struct dh_cli_hive *c)
{
    static const struct dh_print_column columns[] = {
        {.member = "program", .title = "program"},
        {.member = "candidates", .title = "candidates"},
        {.member = "bundles", .title = "bundles"},
        {.member = "causes_hang", .title = "hang"},
        {.member = "causes_crash", .title = "crash"},
        {.member = "both_orders", .title = "both orders"},
        {.member = "single_order", .title = "single order"},
        {.member = "not_aliasing", .title = "not aliasing"},
        {.member = "context", .title = "context"},
        {.member = "synchronisation", .title = "synchronised"},
        {.member = "unknown", .title = "unknown"},
        {.member = "users", .title = "users"},
        {.member = "results", .title = "results"},
    };
    static const struct dh_print_table table = {.member = "programs",
                                                .columns = columns,
                                                .n_columns = DH_ARRAY_LEN(columns),
                                                .none = "The hive knows no program."};
    static const struct dh_print_tables about = {.title = "The hive", .tables = &table, .n_tables = 1};
    const char *format = c->format ? c->format : "text";
    struct dh_hive_engine *e;
    if (strcmp(format, "text") != 0 && strcmp(format, "json") != 0 && strcmp(format, "csv") != 0)
        return dh_cli_fail(c->command, "--format cannot be '%s'; it must be text, json or csv", format);
    int rc = dh_cli_hive_open(c, false, &e);
    if (rc)
        return rc;
    json_t *status = dh_hive_view_status(dh_hive_engine_lock(e));
    dh_hive_engine_unlock(e);
    dh_print_tables(stdout, format, &about, status);
    json_decref(status);
    dh_cli_hive_close(e);
    return 0;
}
