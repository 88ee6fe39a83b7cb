/*
 * serve.c - see serve.h.
 */
#include "agent/serve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/build.h"
#include "agent/work.h"
#include "base/control.h"
#include "chase/chase.h"

enum {
    WORKERS = 256,
    BACKLOG = 64,
    AWAKE_US = 1000000,
    END_US = 10000000,
    STOP_US = 3000000,
    WATCH_US = 2000000
};

/* One build that is served. */
struct host {
    struct dh_agent_build build;
    struct dh_agent_user user;
    struct dh_agent_poll poll;
    int listener; /* -1: none */
    struct host *next;
};

struct server {
    const struct dh_agent_settings *settings;
    struct dh_arena arena;
    struct dh_agent_net *net;
    struct host *hosts;
    struct dh_agent_user *others; /* users of builds that are not served, with something to send */
    size_t n_others;
    int signals, poke[2], directory; /* -1: none */
    pid_t workers[WORKERS];
    size_t n_workers;
    bool stopping;
};

const char *dh_agent_user_dir(struct dh_arena *arena, const struct dh_agent_settings *settings,
                              const char *build)
{
    return dh_arena_printf(arena, "%s/%.16s", settings->state, build);
}

void dh_agent_each_user(const struct dh_agent_settings *settings, void (*take)(void *ctx, const char *dir),
                        void *ctx)
{
    struct dirent **list = NULL;
    int n = scandir(settings->state, &list, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        struct dh_arena scratch = {0};
        if (dh_agent_is_hex(list[i]->d_name, 8, 16))
            take(ctx, dh_agent_user_dir(&scratch, settings, list[i]->d_name));
        dh_arena_done(&scratch);
        free(list[i]);
    }
    free(list);
}

/* ---- Beginning and end ---- */

static int begin(struct server *s, const struct dh_agent_settings *settings)
{
    sigset_t set;
    *s = (struct server){.settings = settings, .signals = -1, .poke = {-1, -1}, .directory = -1};
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* exceeding a file size limit is an error like a full disk */
    s->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (s->signals < 0 || pipe2(s->poke, O_NONBLOCK | O_CLOEXEC) != 0)
        return -errno;
    return 0;
}

/* Only in the process that talks to the hive. */
static int begin_net(struct server *s)
{
    s->net = dh_agent_net_new(s->settings->cacert);
    return s->net ? 0 : -ENOMEM;
}

static void close_host(struct server *s, struct host *h)
{
    if (h->listener >= 0) {
        unlinkat(s->directory, h->build.id, 0);
        close(h->listener);
    }
    dh_agent_poll_close(&h->poll);
    dh_agent_user_close(&h->user);
    dh_agent_build_close(&h->build);
    free(h);
}

static void finish(struct server *s)
{
    dh_agent_net_free(s->net);
    for (struct host *h = s->hosts, *next; h; h = next) {
        next = h->next;
        close_host(s, h);
    }
    for (size_t i = 0; i < s->n_others; i++)
        dh_agent_user_close(&s->others[i]);
    free(s->others);
    for (int i = 0; i < 2; i++)
        if (s->poke[i] >= 0)
            close(s->poke[i]);
    if (s->signals >= 0)
        close(s->signals);
    if (s->directory >= 0)
        close(s->directory);
    dh_arena_done(&s->arena);
}

/* NULL: with a message in the arena; with_code: forked workers have it ready. */
static struct host *add_host(struct server *s, const char *program, bool with_code, struct dh_arena *arena,
                             const char **ret_why)
{
    struct host *h = dh_util_alloc(sizeof(*h));
    *h = (struct host){.listener = -1};
    if (dh_agent_build_open(&h->build, program, with_code, ret_why) != 0) {
        *ret_why = dh_arena_printf(arena, "'%s': %s", program, *ret_why);
        free(h);
        return NULL;
    }
    int rc =
        dh_agent_user_open(&h->user, s->settings, dh_agent_user_dir(arena, s->settings, h->build.id), s->net);
    if (rc || !dh_agent_poll_open(&h->poll, &h->user, &h->build)) {
        *ret_why = dh_arena_printf(arena, "cannot use the directory '%s': %s", s->settings->state,
                                   strerror(rc ? -rc : ENOMEM));
        if (!rc)
            dh_agent_user_close(&h->user);
        dh_agent_build_close(&h->build);
        free(h);
        return NULL;
    }
    h->next = s->hosts;
    s->hosts = h;
    return h;
}

/* ---- Workers ---- */

/* The worker's process, or -1. */
static pid_t start_worker(struct server *s, struct dh_agent_work *work)
{
    pid_t pid = dh_agent_work_start(work, s->poke[0]);
    if (pid > 0)
        s->workers[s->n_workers++] = pid;
    return pid;
}

static void reap(struct server *s)
{
    for (size_t i = 0; i < s->n_workers;) {
        if (waitpid(s->workers[i], NULL, WNOHANG) == s->workers[i])
            s->workers[i] = s->workers[--s->n_workers];
        else
            i++;
    }
}

/* A program of this user has connected to the socket. */
static void accept_program(struct server *s, struct host *h)
{
    struct ucred peer;
    socklen_t n = sizeof(peer);
    int fd = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    if (s->n_workers == WORKERS || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) != 0 ||
        peer.uid != getuid()) {
        close(fd);
        return;
    }
    struct dh_agent_work work = {.settings = s->settings,
                                 .build = &h->build,
                                 .board = h->poll.board,
                                 .spool = h->user.spool,
                                 .balance = h->user.balance,
                                 .poke = s->poke[1],
                                 .socket = fd,
                                 .pid = peer.pid};
    start_worker(s, &work);
}

/* ---- The loop ---- */

static u64 least(u64 a, u64 b)
{
    return a < b ? a : b;
}

static void take_signals(struct server *s)
{
    struct signalfd_siginfo info;
    while (read(s->signals, &info, sizeof(info)) == sizeof(info))
        s->stopping |= info.ssi_signo != SIGCHLD;
}

static void take_pokes(struct server *s)
{
    char bytes[64];
    if (read(s->poke[0], bytes, sizeof(bytes)) <= 0)
        return;
    for (struct host *h = s->hosts; h; h = h->next)
        dh_agent_user_poke(&h->user);
}

/* One round: everything that is due, then a wait. polls: also asks for tasks. */
static void turn(struct server *s, bool polls)
{
    u64 now = dh_chase_now_us(), next = now + AWAKE_US;
    int fds[256];
    size_t n = 0;
    for (struct host *h = s->hosts; h; h = h->next) {
        next = least(next, dh_agent_user_step(&h->user, now));
        if (polls)
            next = least(next, dh_agent_poll_step(&h->poll, now));
        if (h->listener >= 0 && n < 250)
            fds[n++] = h->listener;
    }
    for (size_t i = 0; i < s->n_others; i++)
        next = least(next, dh_agent_user_step(&s->others[i], now));
    fds[n++] = s->signals;
    fds[n++] = s->poke[0];
    dh_agent_net_wait(s->net, fds, n, next > now ? next - now : 0);
    take_signals(s);
    take_pokes(s);
    reap(s);
    for (struct host *h = s->hosts; h; h = h->next)
        if (h->listener >= 0)
            accept_program(s, h);
}

static bool is_all_sent(const struct server *s)
{
    for (const struct host *h = s->hosts; h; h = h->next)
        if (!dh_agent_user_is_done(&h->user))
            return false;
    for (size_t i = 0; i < s->n_others; i++)
        if (!dh_agent_user_is_done(&s->others[i]))
            return false;
    return true;
}

static bool is_served(const struct server *s, const char *dir)
{
    for (const struct host *h = s->hosts; h; h = h->next)
        if (strncmp(dir + strlen(dir) - 16, h->build.id, 16) == 0)
            return true;
    return false;
}

static void add_other(void *ctx, const char *dir)
{
    struct server *s = ctx;
    struct dh_agent_user u;
    size_t cap = s->n_others;
    if (is_served(s, dir) || dh_agent_user_open(&u, s->settings, dir, s->net) != 0)
        return;
    if (dh_agent_user_is_done(&u)) {
        dh_agent_user_close(&u);
        return;
    }
    s->others = dh_util_grow(s->others, s->n_others, &cap, sizeof(*s->others));
    s->others[s->n_others++] = u;
}

/* ---- The daemon ---- */

/* The directory in which programs look, writable by nobody else. */
static int open_directory(struct server *s, const char **ret_why)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    struct stat st;
    const char *path = runtime && runtime[0] == '/'
                           ? dh_arena_printf(&s->arena, "%s/" DH_CONTROL_AGENT_DIR, runtime)
                           : dh_arena_printf(&s->arena, "/run/user/%d/" DH_CONTROL_AGENT_DIR, (int)getuid());
    mkdir(path, 0700);
    s->directory = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int rc = s->directory < 0 || fstat(s->directory, &st) != 0 ? -errno : 0;
    if (!rc && (st.st_uid != getuid() || st.st_mode & (S_IWGRP | S_IWOTH)))
        rc = -EPERM;
    if (rc)
        *ret_why = dh_arena_printf(&s->arena, "cannot use the directory '%s': %s", path,
                                   rc == -EPERM ? "others may write to it, or own it" : strerror(-rc));
    return rc;
}

static int listen_for(struct server *s, struct host *h, struct dh_arena *arena, const char **ret_why)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/%.40s", s->directory, h->build.id);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0) {
        close(fd);
        *ret_why = dh_arena_printf(arena, "another agent serves '%s' already", h->build.path);
        return -EBUSY;
    }
    if (fd >= 0)
        close(fd);
    unlinkat(s->directory, h->build.id, 0);
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(fd, BACKLOG) != 0) {
        int rc = -errno;
        *ret_why = dh_arena_printf(arena, "cannot listen: %s", strerror(-rc));
        if (fd >= 0)
            close(fd);
        return rc;
    }
    h->listener = fd;
    return 0;
}

/* A program's file, and its status when it was last checked. */
struct watched {
    const char *path;
    struct stat st;
};

static bool has_build(const struct server *s, const char *id)
{
    for (const struct host *h = s->hosts; h; h = h->next)
        if (strcmp(h->build.id, id) == 0)
            return true;
    return false;
}

/* 0, or a negative errno with a message in the arena. An older build is still served: it may still run. */
static int look_at(struct server *s, struct watched *w, struct dh_arena *arena, const char **ret_why)
{
    struct stat st;
    char id[DH_AGENT_BUILD + 1];
    if (stat(w->path, &st) != 0) {
        *ret_why = dh_arena_printf(arena, "cannot read '%s': %s", w->path, strerror(errno));
        return -errno;
    }
    if (st.st_ino == w->st.st_ino && st.st_size == w->st.st_size &&
        st.st_mtim.tv_sec == w->st.st_mtim.tv_sec && st.st_mtim.tv_nsec == w->st.st_mtim.tv_nsec)
        return 0;
    w->st = st;
    int rc = dh_agent_build_id(arena, w->path, id, ret_why);
    if (rc) {
        *ret_why = dh_arena_printf(arena, "'%s' %s", w->path, *ret_why);
        return rc;
    }
    if (has_build(s, id))
        return 0;
    struct host *h = add_host(s, w->path, true, arena, ret_why);
    return h ? listen_for(s, h, arena, ret_why) : -EINVAL;
}

/* What cannot be read may be in the middle of being replaced. */
static void look_again(struct server *s, struct watched *watched, size_t n)
{
    struct dh_arena scratch = {0}; /* this goes on for as long as the daemon runs */
    const char *unused;
    for (size_t i = 0; i < n; i++)
        look_at(s, &watched[i], &scratch, &unused);
    dh_arena_done(&scratch);
}

static void stop_workers(struct server *s)
{
    const u64 until = dh_chase_now_us() + STOP_US;
    for (size_t i = 0; i < s->n_workers; i++)
        kill(s->workers[i], SIGTERM);
    while (s->n_workers && dh_chase_now_us() < until) {
        struct pollfd p = {s->signals, POLLIN, 0};
        poll(&p, 1, 100);
        take_signals(s);
        reap(s);
    }
}

int dh_agent_serve(const struct dh_agent_settings *settings, const char *const *programs, size_t n,
                   struct dh_arena *arena, const char **ret_why)
{
    struct server s;
    const char *why = "cannot begin";
    struct watched *watched = dh_arena_array(arena, n, sizeof(*watched));
    u64 look = 0;
    int rc = begin(&s, settings);
    if (!rc)
        rc = begin_net(&s);
    if (!rc)
        rc = open_directory(&s, &why);
    for (size_t i = 0; i < n && !rc; i++) {
        watched[i] = (struct watched){.path = programs[i]};
        rc = look_at(&s, &watched[i], &s.arena, &why);
    }
    if (!rc) {
        dh_agent_each_user(settings, add_other, &s);
        if (settings->verbose)
            fprintf(stderr, "deadheat agent: ready\n");
        look = dh_chase_now_us() + WATCH_US;
    }
    while (!rc && !s.stopping) {
        turn(&s, true);
        if (dh_chase_now_us() < look)
            continue;
        look_again(&s, watched, n);
        look = dh_chase_now_us() + WATCH_US;
    }
    stop_workers(&s);
    if (rc)
        *ret_why = dh_arena_strdup(arena, why);
    finish(&s);
    return rc;
}

/* ---- The companion of one program ---- */

int dh_agent_attend(const struct dh_agent_settings *settings, const char *program, int socket, pid_t pid)
{
    struct server s;
    const char *why;
    struct dh_agent_board *board = dh_agent_board_new();
    int rc = begin(&s, settings);
    if (!rc && !board)
        rc = -ENOMEM;
    char id[DH_AGENT_BUILD + 1];
    if (!rc)
        rc = dh_agent_build_id(&s.arena, program, id, &why);
    if (rc)
        return rc;
    const char *dir = dh_agent_user_dir(&s.arena, settings, id);
    struct dh_agent_work work = {.settings = settings,
                                 .board = board,
                                 .spool = dh_arena_printf(&s.arena, "%s/spool", dir),
                                 .balance = dh_arena_printf(&s.arena, "%s/balance", dir),
                                 .poke = s.poke[1],
                                 .socket = socket,
                                 .pid = pid};
    pid_t worker = start_worker(&s, &work); /* at once: the program waits for it */
    rc = worker > 0 ? begin_net(&s) : -EAGAIN;
    struct host *h = rc ? NULL : add_host(&s, program, false, &s.arena, &why);
    if (h) {
        dh_agent_board_free(h->poll.board);
        h->poll.board = board;
        board = NULL;
        dh_agent_each_user(settings, add_other, &s);
    }
    while (h && s.n_workers && !s.stopping)
        turn(&s, true);
    u64 until = dh_chase_now_us() + END_US;
    for (; h && !s.stopping && !is_all_sent(&s) && dh_chase_now_us() < until;)
        turn(&s, false);
    stop_workers(&s);
    dh_agent_board_free(board);
    finish(&s);
    return h ? 0 : -EINVAL;
}

/* ---- What is left ---- */

static void count_one(void *ctx, const char *id, const char *text)
{
    (void)id;
    (void)text;
    ++*(size_t *)ctx;
}

size_t dh_agent_flush(const struct dh_agent_settings *settings, u64 limit_us)
{
    struct server s;
    size_t left = 0;
    if (begin(&s, settings) == 0 && begin_net(&s) == 0) {
        const u64 until = dh_chase_now_us() + limit_us;
        dh_agent_each_user(settings, add_other, &s);
        while (!s.stopping && !is_all_sent(&s) && dh_chase_now_us() < until)
            turn(&s, false);
        for (size_t i = 0; i < s.n_others; i++)
            dh_agent_spool_each(s.others[i].spool, count_one, &left);
    }
    finish(&s);
    return left;
}
