/*
 * crowd.c - see crowd.h.
 *
 * There are as many seats as programs may run at a time. A seat is taken by a user who asks the hive for a
 * task, runs the program, and sends the result; then the next user gets it. All of that is one loop, which
 * waits for the network and for signals. Every process that is started here dies with this one.
 */
#include "agent/crowd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/build.h"
#include "agent/serve.h"
#include "agent/work.h"
#include "base/control.h"
#include "chase/chase.h"

enum {
    AWAKE_US = 500000,
    SEND_US = 10000000,   /* after a run, for its results; the rest is sent when the user is drawn again */
    MERCY_US = 2000000,   /* between SIGTERM and SIGKILL */
    WORKER_US = 20000000, /* after the program's end */
    ENOUGH_IDLE = 100,    /* users in a row who have nothing to try: then there is nothing left */
};

enum phase { FREE, ASKING, RUNNING, SENDING };

struct seat {
    enum phase phase;
    struct dh_arena arena;
    struct dh_agent_crowd_run run;
    struct dh_agent_user user;
    struct dh_agent_poll poll;
    pid_t program, worker, client; /* 0: ended, or there is none */
    u64 since_us;                  /* when this phase began */
    u64 asked_us;                  /* when the program was asked to end; 0: it was not */
    u64 ended_us;                  /* when it ended */
    bool late;
    u64 visit, left; /* of the user in this seat: which one, and how many more runs */
    u64 resident;    /* the user in this seat */
};

struct crowd {
    const struct dh_agent_crowd *with;
    struct dh_agent_crowd_count *count;
    struct dh_arena arena;
    struct dh_agent_build build;
    struct dh_agent_net *net;
    struct seat *seats;
    int signals, poke[2];
    sigset_t before; /* signals that were blocked */
    u64 next;        /* the run to start next */
    u64 visits;      /* that have started */
    u64 idle_since;  /* users in a row who had nothing to try */
    u64 end_us;
    bool reached; /* the hive has answered at least once */
    bool stopping;
    const char *why; /* why it cannot continue */
};

/* ---- Drawing ---- */

char *dh_agent_crowd_fill(struct dh_arena *arena, const char *text, const struct dh_agent_crowd_run *run)
{
    const struct {
        const char *name;
        u64 value;
    } numbers[] = {{"{run}", run->number}, {"{user}", run->user}, {"{job}", run->job}, {"{seed}", run->seed}};
    char *all = dh_arena_strdup(arena, "");
    while (*text) {
        size_t n = strcspn(text + 1, "{") + 1, skip = 0;
        for (size_t i = 0; i < DH_ARRAY_LEN(numbers) && !skip; i++) {
            if (strncmp(text, numbers[i].name, strlen(numbers[i].name)) != 0)
                continue;
            all = dh_arena_printf(arena, "%s%llu", all, (unsigned long long)numbers[i].value);
            skip = strlen(numbers[i].name);
        }
        if (!skip && run->input && strncmp(text, "{input}", 7) == 0) {
            all = dh_arena_printf(arena, "%s%s", all, run->input);
            skip = 7;
        }
        if (!skip)
            all = dh_arena_printf(arena, "%s%.*s", all, (int)n, text);
        text += skip ? skip : n;
    }
    return all;
}

void dh_agent_crowd_draw(const struct dh_agent_crowd *c, struct dh_agent_crowd_run *run)
{
    u64 h = dh_hash64(dh_hash64(c->seed) + run->visit);
    double x = (double)(h >> 11) / 9007199254740992.0; /* 2^53 */
    run->user = (u64)((double)c->users * x * x);
    h = dh_hash64(dh_hash64(~c->seed) + run->number);
    run->seed = h & 0x7fffffff; /* fits any type it is parsed into */
    h = dh_hash64(h);
    run->input = c->n_inputs ? c->inputs[h % c->n_inputs] : NULL;
}

/* Is this user in another seat, or about to be again? */
static bool is_seated(const struct crowd *c, const struct seat *but, u64 user)
{
    for (u64 i = 0; i < c->with->jobs; i++) {
        const struct seat *s = &c->seats[i];
        if (s != but && (s->phase != FREE || s->left) && s->resident == user)
            return true;
    }
    return false;
}

/* ---- Processes ---- */

/* In the new process: creates a process group of its own, so that all of it can be killed, and the terminal
 * does not signal it. */
static void set_apart(pid_t parent, int keep)
{
    sigset_t none;
    int null = open("/dev/null", O_RDWR);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    for (int fd = 0; fd < 3 && null >= 0; fd++)
        dup2(null, fd);
    close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
    if (keep >= 0)
        fcntl(keep, F_SETFD, 0);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static pid_t start_program(struct crowd *c, struct seat *s, int socket)
{
    size_t n = 0;
    while (c->with->argv[n])
        n++;
    char **argv = dh_arena_array(&s->arena, n + 1, sizeof(*argv));
    for (size_t i = 0; i < n; i++)
        argv[i] = dh_agent_crowd_fill(&s->arena, c->with->argv[i], &s->run);
    pid_t self = getpid(), pid = fork();
    if (pid == 0) {
        char number[16];
        set_apart(self, socket);
        snprintf(number, sizeof(number), "%d%c", socket, DH_CONTROL_AGENT);
        setenv(DH_CONTROL_ENV, number, 1);
        execv(c->build.path, argv);
        _exit(127);
    }
    if (pid > 0)
        setpgid(pid, pid); /* in both processes, whichever is first */
    return pid;
}

static pid_t start_client(struct crowd *c, struct seat *s)
{
    const char *command = dh_agent_crowd_fill(&s->arena, c->with->client, &s->run);
    pid_t self = getpid(), pid = fork();
    if (pid == 0) {
        set_apart(self, -1);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    if (pid > 0)
        setpgid(pid, pid);
    return pid;
}

/* False: it cannot be started. */
static bool start_run(struct crowd *c, struct seat *s)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    s->program = start_program(c, s, ends[1]);
    close(ends[1]);
    if (s->program < 0) {
        close(ends[0]);
        s->program = 0;
        return false;
    }
    struct dh_agent_work work = {.settings = c->with->settings,
                                 .build = &c->build,
                                 .board = s->poll.board,
                                 .spool = s->user.spool,
                                 .balance = s->user.balance,
                                 .poke = c->poke[1],
                                 .socket = ends[0],
                                 .pid = s->program};
    s->worker = dh_agent_work_start(&work, c->poke[0]);
    s->worker = s->worker > 0 ? s->worker : 0;
    s->client = c->with->client ? start_client(c, s) : 0;
    s->client = s->client > 0 ? s->client : 0;
    return true;
}

/* Together with everything it started, unless that left its process group. */
static bool has_ended(pid_t *pid, int *ret_status)
{
    siginfo_t info = {0};
    if (!*pid || waitid(P_PID, (id_t)*pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != *pid)
        return false;
    kill(-*pid, SIGKILL); /* before its pid is released */
    waitpid(*pid, ret_status, 0);
    *pid = 0;
    return true;
}

static void ask_to_end(struct seat *s, u64 now)
{
    if (!s->program)
        return;
    if (!s->asked_us)
        kill(s->program, SIGTERM);
    else if (now - s->asked_us >= MERCY_US)
        kill(-s->program, SIGKILL);
    s->asked_us = s->asked_us ? s->asked_us : now;
}

/* ---- Seats ---- */

static void enter(struct seat *s, enum phase phase, u64 now)
{
    s->phase = phase;
    s->since_us = now;
}

static void leave(struct crowd *c, struct seat *s)
{
    dh_agent_net_drop(c->net, &s->user);
    dh_agent_net_drop(c->net, &s->poll);
    c->count->sent += s->user.n_sent;
    c->count->refused += s->user.n_refused;
    dh_agent_poll_close(&s->poll);
    dh_agent_user_close(&s->user);
    dh_arena_done(&s->arena);
    *s = (struct seat){.phase = FREE, .visit = s->visit, .left = s->left, .resident = s->resident};
}

static void sit_down(struct crowd *c, struct seat *s, u64 now)
{
    const struct dh_agent_crowd *with = c->with;
    bool comes_new = !s->left;
    if (comes_new) {
        s->visit = c->visits++;
        s->left = with->visit;
    }
    s->left--;
    s->run = (struct dh_agent_crowd_run){.number = c->next++, .visit = s->visit, .job = (u64)(s - c->seats)};
    dh_agent_crowd_draw(with, &s->run);
    while (comes_new && is_seated(c, s, s->run.user))
        s->run.user = (s->run.user + 1) % with->users;
    s->resident = s->run.user = comes_new ? s->run.user : s->resident;
    struct dh_agent_settings own = *with->settings;
    own.state = dh_arena_printf(&s->arena, "%s/%06llu", own.state, (unsigned long long)s->run.user);
    int rc =
        dh_agent_user_open(&s->user, with->settings, dh_agent_user_dir(&s->arena, &own, c->build.id), c->net);
    if (!rc && !dh_agent_poll_open(&s->poll, &s->user, &c->build)) {
        dh_agent_user_close(&s->user);
        rc = -ENOMEM;
    }
    if (rc) {
        c->why = dh_arena_printf(&c->arena, "cannot use the directory '%s': %s", own.state, strerror(-rc));
        dh_arena_done(&s->arena);
        return;
    }
    enter(s, ASKING, now);
}

/* The first user who cannot reach the hive reports why. The hive may come back later. */
static void tell_trouble(struct crowd *c, const struct seat *s)
{
    char line[512] = "the hive gives no task";
    FILE *f = fopen(s->user.trouble, "re");
    if (f && fgets(line, sizeof(line), f))
        line[strcspn(line, "\n")] = 0;
    if (f)
        fclose(f);
    c->why = dh_arena_strdup(&c->arena, line);
}

static bool somebody_runs(const struct crowd *c)
{
    for (size_t i = 0; i < c->with->jobs; i++)
        if (c->seats[i].phase == RUNNING)
            return true;
    return false;
}

static void look_at_asking(struct crowd *c, struct seat *s, u64 now)
{
    u32 turn;
    bool asked;
    if (!s->poll.known) {
        if (s->poll.pause_us && !c->reached)
            tell_trouble(c, s);
        return;
    }
    c->reached = true;
    if (dh_agent_board_read(s->poll.board, &turn, &asked).kind == DH_AGENT_NOTHING) {
        c->count->idle++;
        c->idle_since += !somebody_runs(c); /* the rest may be for one user at a time */
        s->left = 0;
        enter(s, SENDING, now); /* there may be results of an earlier run */
        return;
    }
    c->idle_since = 0;
    if (start_run(c, s)) {
        c->count->runs++;
        enter(s, RUNNING, now);
    } else {
        c->why = dh_arena_printf(&c->arena, "cannot run '%s': %s", c->build.path, strerror(errno));
    }
}

static void look_at_running(struct crowd *c, struct seat *s, u64 now)
{
    int status = 0;
    if (has_ended(&s->program, &status)) {
        c->count->ended++;
        s->ended_us = now;
        c->count->crashed += !s->late && !s->asked_us && WIFSIGNALED(status);
        c->count->late += s->late;
        if (s->client)
            kill(-s->client, SIGKILL);
    }
    if (has_ended(&s->client, &status))
        ask_to_end(s, now);
    if (s->worker && waitpid(s->worker, &status, WNOHANG) == s->worker)
        s->worker = 0;
    if (s->worker && !s->program && now - s->ended_us >= WORKER_US)
        kill(s->worker, SIGKILL); /* it has nothing to wait for */
    if (s->program && now - s->since_us >= c->with->limit_us) {
        s->late = true;
        kill(-s->program, SIGKILL);
    }
    if (s->program && (s->asked_us || c->stopping))
        ask_to_end(s, now);
    if (s->program || s->worker || s->client)
        return;
    dh_agent_net_drop(c->net, &s->poll);
    dh_agent_user_poke(&s->user);
    enter(s, SENDING, now);
}

static void look_at(struct crowd *c, struct seat *s, u64 now)
{
    if (s->phase == ASKING && c->stopping)
        leave(c, s);
    if (s->phase == ASKING)
        look_at_asking(c, s, now);
    if (s->phase == RUNNING)
        look_at_running(c, s, now);
    if (s->phase == SENDING && (dh_agent_user_is_done(&s->user) || now - s->since_us >= SEND_US))
        leave(c, s);
}

static bool is_over(const struct crowd *c)
{
    u64 enough = c->with->users < ENOUGH_IDLE ? c->with->users : ENOUGH_IDLE;
    return c->stopping || c->count->runs >= c->with->runs || c->idle_since >= enough;
}

/* Returns the number of seats taken. */
static u64 look_round(struct crowd *c, u64 now)
{
    u64 taken = 0, asking = 0;
    c->stopping = c->stopping || now >= c->end_us || c->why;
    for (u64 i = 0; i < c->with->jobs; i++) {
        look_at(c, &c->seats[i], now);
        asking += c->seats[i].phase == ASKING;
    }
    for (u64 i = 0; i < c->with->jobs; i++) {
        struct seat *s = &c->seats[i];
        if (s->phase == FREE && !is_over(c) && !c->why && c->count->runs + asking < c->with->runs) {
            sit_down(c, s, now);
            asking++;
        }
        taken += s->phase != FREE;
    }
    return taken;
}

/* ---- The loop ---- */

static void take_signals(struct crowd *c)
{
    struct signalfd_siginfo info;
    char bytes[64];
    while (read(c->signals, &info, sizeof(info)) == sizeof(info)) {
        bool stop = info.ssi_signo != SIGCHLD;
        if (stop && c->count->interrupted)
            _exit(128 + (int)info.ssi_signo); /* the second time: at once; all that was started dies, too */
        c->count->interrupted |= stop;
        c->stopping |= stop;
    }
    if (read(c->poke[0], bytes, sizeof(bytes)) > 0)
        for (u64 i = 0; i < c->with->jobs; i++)
            if (c->seats[i].phase != FREE)
                dh_agent_user_poke(&c->seats[i].user);
}

static void wait_for_news(struct crowd *c, u64 now)
{
    u64 next = now + AWAKE_US;
    const int fds[] = {c->signals, c->poke[0]};
    for (u64 i = 0; i < c->with->jobs; i++) {
        struct seat *s = &c->seats[i];
        u64 at = s->phase != FREE ? dh_agent_user_step(&s->user, now) : UINT64_MAX;
        next = at < next ? at : next;
        at = s->phase == ASKING || s->phase == RUNNING ? dh_agent_poll_step(&s->poll, now) : UINT64_MAX;
        next = at < next ? at : next;
    }
    dh_agent_net_wait(c->net, fds, DH_ARRAY_LEN(fds), next > now ? next - now : 0);
}

static int begin(struct crowd *c, const char **ret_why)
{
    sigset_t set;
    sigprocmask(SIG_BLOCK, NULL, &c->before);
    int rc = dh_agent_build_open(&c->build, c->with->program, true, ret_why);
    if (rc) {
        *ret_why = dh_arena_printf(&c->arena, "'%s': %s", c->with->program, *ret_why);
        return rc;
    }
    c->seats = dh_arena_array(&c->arena, c->with->jobs, sizeof(*c->seats));
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, &c->before);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    c->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    c->net = dh_agent_net_new(c->with->settings->cacert);
    if (c->signals < 0 || pipe2(c->poke, O_NONBLOCK | O_CLOEXEC) != 0 || !c->net) {
        *ret_why = "there is no memory, or there are too many open files";
        return -ENOMEM;
    }
    return 0;
}

int dh_agent_crowd_gather(const struct dh_agent_crowd *with, struct dh_arena *arena,
                          struct dh_agent_crowd_count *ret, const char **ret_why)
{
    struct crowd c = {.with = with, .count = ret, .signals = -1, .poke = {-1, -1}};
    *ret = (struct dh_agent_crowd_count){0};
    int rc = begin(&c, &c.why);
    c.end_us = dh_chase_now_us() + with->budget_us;
    while (!rc && look_round(&c, dh_chase_now_us())) {
        wait_for_news(&c, dh_chase_now_us());
        take_signals(&c);
        with->progress(with->ctx, ret);
    }
    if (c.why) {
        *ret_why = dh_arena_strdup(arena, c.why);
        rc = rc ? rc : -EIO;
    }
    dh_agent_net_free(c.net);
    for (int i = 0; i < 2; i++)
        if (c.poke[i] >= 0)
            close(c.poke[i]);
    if (c.signals >= 0)
        close(c.signals);
    if (c.seats) {
        dh_agent_build_close(&c.build);
        sigprocmask(SIG_SETMASK, &c.before, NULL);
    }
    dh_arena_done(&c.arena);
    return rc;
}
