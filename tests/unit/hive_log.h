/*
 * hive_log.h - for tests of the hive: one state, the requests that change it, and its log, from which end()
 * rebuilds it.
 */
#ifndef DH_TESTS_HIVE_LOG_H
#define DH_TESTS_HIVE_LOG_H

#include <errno.h>

#include "hive/snapshot.h"
#include "unit/check.h"
#include "unit/hive_crowd.h"

enum { MINUTE = 60 * 1000000, SITES = 200 };

static struct dh_hive_state state;
static struct dh_hive_batch hive;
static struct dh_arena kept; /* the log */
static struct dh_store_event *log_events;
static size_t n_log, cap_log;
static u64 serial;

static inline void keep_log(void)
{
    for (size_t i = 0; i < hive.n_events; i++) {
        struct dh_store_event e = hive.events[i];
        e.kind = dh_arena_strdup(&kept, e.kind);
        e.body = dh_arena_strdup(&kept, e.body);
        e.data = e.data ? dh_arena_dup(&kept, e.data, e.data_len) : NULL;
        log_events = dh_util_grow(log_events, n_log, &cap_log, sizeof(*log_events));
        log_events[n_log++] = e;
    }
    dh_hive_batch_clear(&hive);
}

static inline void add_table(const char *program, const char *build, u8 *table, size_t len)
{
    const char *why;
    assert_int_equal(dh_hive_add_build(&hive, program, build, NULL, table, len, &why), DH_HIVE_CREATED);
    free(table);
    keep_log();
}

static inline void add_build(const char *program, const char *build, u32 pairs, u32 same, u32 salt,
                             bool bundle)
{
    u8 *table;
    size_t len;
    hive_table(pairs, same, salt, bundle, &table, &len);
    add_table(program, build, table, len);
}

static inline void begin_empty(void)
{
    dh_hive_state_init(&state);
    hive = (struct dh_hive_batch){
        .state = &state, .policy = &dh_hive_racemob, .now_us = 1700000000000000, .random = 42};
    n_log = 0;
    serial = 0;
}

static inline void begin(u32 pairs, bool bundle)
{
    begin_empty();
    add_build("prog", "aaaaaaaa", pairs, 0, 0, bundle);
}

/* A build with pairs of sites by their lines, up to SITES. */
static inline void begin_with(u32 (*lines)[2], size_t n)
{
    struct dh_pairs *p = dh_pairs_new();
    u32 sites[SITES + 1];
    u8 *table;
    size_t len;
    dh_pairs_set_program(p, "prog", "test", "");
    for (u32 line = 0; line <= SITES; line++)
        sites[line] = hive_site(p, line);
    for (size_t i = 0; i < n; i++)
        hive_pair(p, sites[lines[i][0]], sites[lines[i][1]], DH_PAIRS_RELAY);
    dh_pairs_write(p, &table, &len);
    dh_pairs_free(p);
    begin_empty();
    add_table("prog", "aaaaaaaa", table, len);
}

static inline void apply(struct dh_hive_state *s, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        assert_int_equal(dh_hive_apply(s, &log_events[i]), 0);
}

static inline void assert_same(const struct dh_hive_state *s)
{
    json_t *a = dh_hive_dump(&state), *b = dh_hive_dump(s);
    assert_true(json_equal(a, b));
    json_decref(a);
    json_decref(b);
}

static inline int read_snapshot(struct dh_hive_state *s, const char *bytes, size_t len)
{
    dh_hive_state_init(s);
    int rc = dh_hive_snapshot_read(s, bytes, len);
    if (rc)
        dh_hive_state_done(s);
    return rc;
}

/* From a snapshot of a part of the log, the rest gives the same state. One that is damaged is none. */
static inline void check_snapshot(size_t from)
{
    struct dh_hive_state before, again;
    struct hive_bytes b = {0};
    dh_hive_state_init(&before);
    apply(&before, 0, from);
    assert_int_equal(dh_hive_snapshot_write(&before, hive_take, &b), 0);
    dh_hive_state_done(&before);
    assert_int_equal(read_snapshot(&again, b.at, b.len), 0);
    apply(&again, from, n_log);
    assert_same(&again);
    dh_hive_state_done(&again);
    b.at[b.len / 2] ^= 1;
    assert_int_equal(read_snapshot(&again, b.at, b.len), -EBADMSG);
    assert_int_equal(read_snapshot(&again, b.at, b.len / 2), -EBADMSG);
    assert_int_equal(read_snapshot(&again, b.at, 0), -EBADMSG);
    free(b.at);
}

/* The log, read back, gives the same state. */
static inline void end(void)
{
    struct dh_hive_state again;
    keep_log();
    dh_hive_state_init(&again);
    apply(&again, 0, n_log);
    assert_same(&again);
    dh_hive_state_done(&again);
    check_snapshot(n_log / 2);
    if (n_log < 1000) {
        check_snapshot(n_log);
        check_snapshot(0);
    }
    dh_hive_state_done(&state);
    dh_hive_batch_done(&hive);
    dh_arena_done(&kept);
    kept = (struct dh_arena){0};
    free(log_events);
    log_events = NULL;
    cap_log = 0;
}

/* The user's task, or DH_HIVE_NONE. */
static inline u32 poll(u64 user)
{
    char name[DH_HIVE_HASH + 1];
    const char *why = NULL;
    u32 at;
    assert_int_equal(dh_hive_poll(&hive, 0, hive_name(name, DH_HIVE_HASH, user), "aaaaaaaa", &at, &why),
                     DH_HIVE_OK);
    keep_log();
    return state.users[at].task;
}

static inline enum dh_hive_status post(u64 user, u32 task, const char *result, const char *consequence,
                                       u64 waited_us)
{
    char name[DH_HIVE_HASH + 1], id[33], run[33];
    const char *why = NULL;
    serial++;
    json_t *r = json_pack("{s:s, s:I, s:s, s:s, s:s, s:I, s:I}", "id", hive_name(id, 32, serial), "task",
                          (json_int_t)task, "result", result, "consequence", consequence, "run",
                          hive_name(run, 32, serial), "waited_us", (json_int_t)waited_us, "run_us",
                          (json_int_t)1000000);
    enum dh_hive_status status = dh_hive_add_result(&hive, 0, hive_name(name, DH_HIVE_HASH, user), r, &why);
    json_decref(r);
    keep_log();
    return status;
}

#endif
