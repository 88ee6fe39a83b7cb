/*
 * user.c - see user.h.
 */
#include "agent/user.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/build.h"
#include "chase/chase.h"
#include "util/text.h"

enum {
    WAIT_S = 50,
    SLACK_S = 15,
    LOOK_US = 500000,
    NEWS_PAUSE_US = 100000, /* at least, between two questions; without news FIRST_PAUSE_US */
    FIRST_PAUSE_US = 1000000,
    LONGEST_PAUSE_US = 300000000
};

/* ---- Identity ---- */

/* Like `mkdir -p`, for this user alone. */
static int make_directories(const char *path)
{
    char at[4096];
    size_t n = strlen(path);
    if (n >= sizeof(at))
        return -ENAMETOOLONG;
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i])
            continue;
        memcpy(at, path, i);
        at[i] = 0;
        if (mkdir(at, 0700) != 0 && errno != EEXIST)
            return -errno;
    }
    return 0;
}

static bool read_line(const char *path, char *ret, size_t n)
{
    errno = 0; /* an empty file is not an error */
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, ret, n - 1) : -1;
    if (fd >= 0)
        close(fd);
    ret[got > 0 ? got : 0] = 0;
    ret[strcspn(ret, "\r\n")] = 0;
    return got > 0 && ret[0];
}

/* Drawn once. If two processes do so at the same time, one wins. */
static int read_id(struct dh_agent_user *u, const char *path)
{
    char new[64];
    const char *draft;
    if (read_line(path, u->id, sizeof(u->id)) && dh_agent_is_hex(u->id, DH_AGENT_ID, DH_AGENT_ID))
        return 0;
    dh_agent_draw(u->id);
    snprintf(new, sizeof(new), "%s\n", u->id);
    draft = dh_arena_printf(&u->arena, "%s.%s", path, u->id);
    int fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int rc = fd < 0 ? -errno : 0;
    if (!rc && (write(fd, new, strlen(new)) != (ssize_t)strlen(new) || fsync(fd) != 0))
        rc = -EIO;
    if (fd >= 0)
        close(fd);
    if (!rc && link(draft, path) != 0)
        rc = -errno;
    if (fd >= 0)
        unlink(draft);
    if (rc == -EEXIST && read_line(path, u->id, sizeof(u->id)) &&
        dh_agent_is_hex(u->id, DH_AGENT_ID, DH_AGENT_ID))
        return 0;
    return rc;
}

int dh_agent_user_open(struct dh_agent_user *u, const struct dh_agent_settings *settings, const char *dir,
                       struct dh_agent_net *net)
{
    *u = (struct dh_agent_user){.settings = settings, .net = net};
    u->spool = dh_arena_printf(&u->arena, "%s/spool", dir);
    u->balance = dh_arena_printf(&u->arena, "%s/balance", dir);
    u->trouble = dh_arena_printf(&u->arena, "%s/trouble", dir);
    int rc = make_directories(u->spool);
    if (!rc)
        rc = read_id(u, dh_arena_printf(&u->arena, "%s/user", dir));
    if (rc)
        dh_arena_done(&u->arena);
    else
        u->has_trouble = access(u->trouble, F_OK) == 0;
    return rc;
}

void dh_agent_user_close(struct dh_agent_user *u)
{
    dh_arena_done(&u->arena);
}

/* ---- Trouble ---- */

__attribute__((format(printf, 2, 3))) static void note(struct dh_agent_user *u, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line) - 1, format, args);
    va_end(args);
    dh_text_tame(line, strlen(line));
    if (u->settings->verbose)
        fprintf(stderr, "deadheat agent: %s\n", line);
    int fd = open(u->trouble, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    strcat(line, "\n");
    if (fd >= 0 && write(fd, line, strlen(line)) > 0)
        u->has_trouble = true;
    if (fd >= 0)
        close(fd);
}

static void note_health(struct dh_agent_user *u)
{
    if (u->has_trouble)
        unlink(u->trouble);
    u->has_trouble = false;
}

/* False: there is none, or it cannot be read. */
static bool read_key(struct dh_agent_user *u)
{
    const char *path = u->settings->key_file;
    if (u->key[0])
        return true;
    if (!read_line(path, u->key, sizeof(u->key)))
        note(u, "cannot read the key '%s': %s", path, errno ? strerror(errno) : "it is empty");
    return u->key[0] != 0;
}

/* After a failure: twice as long as the last time, and not all agents at the same moment. */
static u64 grow(u64 *pause, u64 seed)
{
    *pause = *pause ? *pause * 2 : FIRST_PAUSE_US;
    *pause = *pause < LONGEST_PAUSE_US ? *pause : LONGEST_PAUSE_US;
    return *pause / 2 + dh_hash64(seed) % *pause / 2;
}

static const char *url_of(struct dh_arena *scratch, const struct dh_agent_user *u, const char *path)
{
    return dh_arena_printf(scratch, "%s%s", u->settings->hive, path);
}

static void post(struct dh_agent_user *u, const char *path, const char *body, u64 limit_s,
                 dh_agent_answered *answered, void *ctx)
{
    struct dh_arena scratch = {0};
    dh_agent_net_post(u->net, url_of(&scratch, u, path), u->key, u->id, body, limit_s, answered, ctx);
    dh_arena_done(&scratch);
}

/* ---- Results ---- */

static void result_answered(void *ctx, long status, const char *text, size_t len)
{
    struct dh_agent_user *u = ctx;
    u->sending = false;
    u->look_us = 0;
    switch (status) {
    case 200:
    case 201:
        dh_agent_spool_drop(u->spool, u->sent);
        u->n_sent++;
        u->send_pause_us = 0;
        note_health(u);
        return;
    case 400:
    case 403:
    case 409:
    case 413: /* sent again, it would get the same answer */
        dh_agent_spool_drop(u->spool, u->sent);
        u->n_refused++;
        u->send_pause_us = 0;
        return;
    case 401:
        u->key[0] = 0;
        break;
    default:
        break;
    }
    if (status)
        note(u, "the hive does not take results: status %ld", status);
    else
        note(u, "the hive cannot be reached: %.*s", (int)len, text);
    u->look_us = dh_chase_now_us() + grow(&u->send_pause_us, dh_chase_now_us());
}

void dh_agent_user_poke(struct dh_agent_user *u)
{
    if (!u->send_pause_us)
        u->look_us = 0;
}

u64 dh_agent_user_step(struct dh_agent_user *u, u64 now_us)
{
    char id[DH_AGENT_ID + 1];
    if (u->sending)
        return UINT64_MAX;
    if (now_us < u->look_us)
        return u->look_us;
    u->look_us = now_us + LOOK_US;
    if (!dh_agent_spool_pick(u->spool, u->sent, id))
        return u->look_us;
    if (!read_key(u)) {
        u->look_us = now_us + grow(&u->send_pause_us, now_us);
        return u->look_us;
    }
    char *text = dh_agent_spool_read(u->spool, id);
    memcpy(u->sent, id, sizeof(id));
    if (text) {
        u->sending = true;
        post(u, "/v1/results", text, SLACK_S, result_answered, u);
    }
    free(text);
    return text ? UINT64_MAX : u->look_us;
}

bool dh_agent_user_is_done(const struct dh_agent_user *u)
{
    char id[DH_AGENT_ID + 1];
    return !u->sending && !dh_agent_spool_pick(u->spool, "", id);
}

/* ---- Tasks ---- */

bool dh_agent_poll_open(struct dh_agent_poll *p, struct dh_agent_user *u, const struct dh_agent_build *build)
{
    *p = (struct dh_agent_poll){.user = u, .build = build, .board = dh_agent_board_new()};
    return p->board != NULL;
}

void dh_agent_poll_close(struct dh_agent_poll *p)
{
    dh_agent_board_free(p->board);
}

static void take_task(struct dh_agent_poll *p, const json_t *o)
{
    struct dh_agent_task task = {0};
    const char *why = dh_agent_task_read(o, p->build->id, &task);
    if (!why)
        why = dh_agent_build_check(p->build, &task);
    if (why) {
        p->n_refused++;
        task = (struct dh_agent_task){0};
        note(p->user, "a task of the hive is refused: %s", why);
    }
    dh_agent_board_write(p->board, &task);
}

static void poll_answered(void *ctx, long status, const char *text, size_t len)
{
    struct dh_agent_poll *p = ctx;
    u64 now = dh_chase_now_us();
    json_t *o = status == 200 ? json_loadb(text, len, 0, NULL) : NULL;
    const json_t *version = json_object_get(o, "version");
    p->asking = false;
    if (json_is_integer(version) && json_integer_value(version) >= 0 && json_object_get(o, "task")) {
        bool news = !p->known || p->version != (u64)json_integer_value(version);
        p->version = (u64)json_integer_value(version);
        take_task(p, json_object_get(o, "task"));
        p->pause_us = 0;
        p->known = true;
        /* A hive that does not wait, or always has news, is not flooded. */
        p->next_us = p->asked_us + (news ? NEWS_PAUSE_US : FIRST_PAUSE_US);
        json_decref(o);
        return;
    }
    json_decref(o);
    if (status == 200)
        note(p->user, "the answer of '%s' is not that of a hive", p->user->settings->hive);
    else if (status == 404)
        note(p->user, "the hive knows no build %s of this program", p->build->id);
    else if (status)
        note(p->user, "the hive gives no task: status %ld", status);
    else
        note(p->user, "the hive cannot be reached: %.*s", (int)len, text);
    if (status == 401)
        p->user->key[0] = 0;
    if (!p->known)
        dh_agent_board_write(p->board, &(struct dh_agent_task){0}); /* nobody needs to wait for a task */
    p->next_us = now + grow(&p->pause_us, now);
}

char *dh_agent_poll_body(const char *build, u64 version, u64 wait_s)
{
    json_t *o = json_pack("{s:s, s:I, s:I}", "build", build, "since", (json_int_t)version, "wait_s",
                          (json_int_t)wait_s);
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
    if (!text)
        dh_util_no_memory();
    json_decref(o);
    return text;
}

u64 dh_agent_poll_step(struct dh_agent_poll *p, u64 now_us)
{
    if (p->asking)
        return UINT64_MAX;
    if (now_us < p->next_us)
        return p->next_us;
    if (!read_key(p->user)) {
        dh_agent_board_write(p->board, &(struct dh_agent_task){0});
        p->next_us = now_us + grow(&p->pause_us, now_us);
        return p->next_us;
    }
    u64 wait_s = p->known ? WAIT_S : 0;
    char *body = dh_agent_poll_body(p->build->id, p->version, wait_s);
    p->asking = true;
    p->asked_us = now_us;
    post(p->user, "/v1/poll", body, wait_s + SLACK_S, poll_answered, p);
    free(body);
    return UINT64_MAX;
}
