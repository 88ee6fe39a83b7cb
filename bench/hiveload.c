/*
 * hiveload.c - a simulated crowd against one or several hives: `hiveload [OPTIONS] PORT...`, for bench/hive.
 *
 * Each agent has two connections, as a real one has: a poll that waits for news of its task, and reports of
 * results. It gets a task, runs for a while, reports, is told by its waiting poll that the task has ended,
 * asks for the next, and so on. A few viewers look at the administrator's pages meanwhile. One thread, epoll:
 * it shares the processors with what it measures.
 *
 * Everything that an agent says follows from its number and a counter, so a result that was acknowledged is
 * known by four numbers, which go to the file of --acks. `--check` reads such a file and posts each result
 * again: a hive that has it says so (200), one that lost it does not.
 *
 * A connection that fails is made again, at the next port, and what was not acknowledged is sent again, as
 * an agent does. Standard output is one JSON object with counts and latencies.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

typedef int64_t i64;

enum { MAX_PORTS = 8, IN = 4096, OUT = 1024, AGAIN_US = 100000, RAMP_US = 2000000 };
enum role { POLL, REPORT, LOOK, CHECK, ROLES };

/* What is timed. A poll that waits by design is no latency: NEWS is from the report that caused the news to
 * the answer that brings it, LATE is how long after its time a poll without news was answered. */
enum span { RESULT, TASK, NEWS, LATE, VIEW, SPANS };
static const char *const span_names[SPANS] = {"result", "task", "news", "late", "view"};

struct agent {
    u64 version;
    i64 task;        /* at hand, or -1 */
    i64 report;      /* the task of the result that is being reported, or -1 */
    u32 n;           /* results so far: numbers the next one */
    u64 due_us;      /* when its run ends; 0: it was reported */
    u64 reported_us; /* when the last report was sent, until its news has come; or 0 */
};

struct conn {
    enum role role;
    u32 agent;
    int fd; /* -1: none */
    u16 port;
    bool busy; /* a request is under way */
    bool waits;
    u64 sent_us;
    char out[OUT], in[IN];
    size_t out_len, out_at, in_len;
    int status;
    size_t body, whole, got; /* of the answer: where its body is, its length or 0, what has come */
    size_t item;             /* that is checked */
};

struct timer {
    u64 at;
    struct conn *c;
};

static struct {
    const char *key, *build, *admin, *acks, *check, *program;
    u16 ports[MAX_PORTS];
    unsigned n_ports, agents, viewers, seed, wait_s;
    double seconds, warmup, think_s;
} opt = {.agents = 2000,
         .viewers = 4,
         .seed = 1,
         .wait_s = 20,
         .seconds = 60,
         .warmup = 5,
         .think_s = 1.8,
         .program = "load"};

static int ep;
static struct agent *agents;
static struct timer *heap;
static size_t n_heap, cap_heap;
static u64 begin_us, measure_us, end_us;
static FILE *acks;
static struct {
    u32 *us;
    size_t n, cap;
} spans[SPANS];
static u64 n_answers, n_acks, n_reconnects, n_busy, n_wrong, n_conflicts, n_twice, by_role[ROLES];
static char wrong[300]; /* the first answer that should not have been */
static i64 *owner;      /* of each task */
static size_t n_owner;

static u64 now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000 + (u64)t.tv_nsec / 1000;
}

static void die(const char *what)
{
    fprintf(stderr, "hiveload: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void *must(void *p)
{
    if (!p)
        die("memory");
    return p;
}

/* A number that depends on these alone. */
static u64 mix(u64 a, u64 b, u64 c)
{
    u64 z = a * 0x9e3779b97f4a7c15ull + b * 0xbf58476d1ce4e5b9ull + c * 0x94d049bb133111ebull + opt.seed;
    for (int i = 0; i < 2; i++) {
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ z >> 27) * 0x94d049bb133111ebull;
        z ^= z >> 31;
    }
    return z;
}

static void note(enum span s, u64 us)
{
    if (now_us() < measure_us)
        return;
    if (spans[s].n == spans[s].cap) {
        spans[s].cap = spans[s].cap ? 2 * spans[s].cap : 1 << 16;
        spans[s].us = must(realloc(spans[s].us, spans[s].cap * sizeof(u32)));
    }
    spans[s].us[spans[s].n++] = us > UINT32_MAX ? UINT32_MAX : (u32)us;
}

static void be_wrong(const char *what, int status, const char *body)
{
    if (!n_wrong++)
        snprintf(wrong, sizeof(wrong), "%s: %d %.200s", what, status, body);
}

/* ---- Timers: a binary heap ---- */

static void later(struct conn *c, u64 at)
{
    if (n_heap == cap_heap)
        heap = must(realloc(heap, (cap_heap = cap_heap ? 2 * cap_heap : 1 << 14) * sizeof(*heap)));
    size_t i = n_heap++;
    for (; i && heap[(i - 1) / 2].at > at; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = (struct timer){at, c};
}

static struct conn *next_due(u64 now)
{
    if (!n_heap || heap[0].at > now)
        return NULL;
    struct conn *c = heap[0].c;
    struct timer last = heap[--n_heap];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < n_heap; i = child) {
        child += child + 1 < n_heap && heap[child + 1].at < heap[child].at;
        if (heap[child].at >= last.at)
            break;
        heap[i] = heap[child];
    }
    heap[i] = last;
    return c;
}

/* ---- Connections ---- */

static void drop(struct conn *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    c->busy = false;
    c->out_len = c->out_at = c->in_len = c->got = c->whole = 0;
    c->port = (u16)((c->port + 1) % opt.n_ports);
    n_reconnects++;
    later(c, now_us() + AGAIN_US);
}

static void flush_out(struct conn *c)
{
    while (c->out_at < c->out_len) {
        ssize_t n = send(c->fd, c->out + c->out_at, c->out_len - c->out_at, MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == ENOTCONN))
            return; /* goes on when it can be written */
        if (n < 0) {
            drop(c);
            return;
        }
        c->out_at += (size_t)n;
    }
}

static bool open_connection(struct conn *c)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(opt.ports[c->port]),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = c};
    int one = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0)
        die("socket");
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if ((connect(c->fd, (struct sockaddr *)&to, sizeof(to)) != 0 && errno != EINPROGRESS) ||
        epoll_ctl(ep, EPOLL_CTL_ADD, c->fd, &e) != 0) {
        drop(c);
        return false;
    }
    return true;
}

static void ask(struct conn *c, const char *method, const char *path, const char *body)
{
    char user[80] = "";
    if (c->role != LOOK)
        snprintf(user, sizeof(user), "X-Deadheat-User: %016llx%016llx\r\n",
                 (unsigned long long)mix(c->agent, 0, 1), (unsigned long long)mix(c->agent, 0, 2));
    c->out_len =
        (size_t)snprintf(c->out, sizeof(c->out),
                         "%s %s HTTP/1.1\r\nHost: hive\r\nAuthorization: Bearer %s\r\n%s"
                         "Content-Length: %zu\r\n\r\n%s",
                         method, path, c->role == LOOK ? opt.admin : opt.key, user, strlen(body), body);
    c->out_at = 0;
    c->busy = true;
    c->sent_us = now_us();
    flush_out(c);
}

/* ---- What agents say ---- */

static const char *result_of(u32 agent, u32 n)
{
    if ((n + agent) % 10 == 9) /* the same share for all, lest some be relieved */
        return "timeout";
    u64 x = mix(agent, n, 3) % 5000;
    return x == 0 ? "race" : x < 1000 ? "no-race" : "not-seen";
}

static void report(struct conn *c, u32 agent, u32 n, i64 task)
{
    char body[400];
    snprintf(body, sizeof(body),
             "{\"id\": \"%016llx%016llx\", \"task\": %lld, \"result\": \"%s\", \"run\": \"%016llx%016llx\", "
             "\"waited_us\": %u, \"run_us\": %u}",
             (unsigned long long)mix(agent, n, 4), (unsigned long long)mix(agent, n, 5), (long long)task,
             result_of(agent, n), (unsigned long long)mix(agent, n, 6), (unsigned long long)mix(agent, n, 7),
             1000 + (unsigned)(mix(agent, n, 8) % 100), 1000000 + (unsigned)(mix(agent, n, 9) % 100000));
    c->agent = agent;
    ask(c, "POST", "/v1/results", body);
}

static void say_poll(struct conn *c)
{
    char body[300];
    const struct agent *a = &agents[c->agent];
    snprintf(body, sizeof(body), "{\"build\": \"%s\", \"since\": %llu, \"wait_s\": %u}", opt.build,
             (unsigned long long)a->version, opt.wait_s);
    c->waits = a->task >= 0;
    ask(c, "POST", "/v1/poll", body);
}

static void say_report(struct conn *c)
{
    struct agent *a = &agents[c->agent];
    if (a->report < 0 && a->due_us && a->due_us <= now_us() && a->task >= 0) {
        a->report = a->task;
        a->due_us = 0;
    }
    if (a->report < 0)
        return;
    report(c, c->agent, a->n, a->report);
    a->reported_us = c->sent_us;
}

static void look(struct conn *c)
{
    char path[200];
    static const char *const paths[] = {"/v1/status", "/v1/candidates?program=%s&limit=50", "/metrics",
                                        "/v1/users?program=%s&limit=50", "/readyz"};
    snprintf(path, sizeof(path), paths[mix(now_us(), c->agent, 0) % DH_ARRAY_LEN(paths)], opt.program);
    ask(c, "GET", path, "");
}

/* ---- Answers ---- */

static bool number_after(const char *text, const char *name, i64 *ret)
{
    const char *at = strstr(text, name);
    char *end;
    if (!at)
        return false;
    at += strlen(name);
    *ret = strtoll(at, &end, 10);
    return end != at;
}

static void take_task(struct conn *c, i64 task)
{
    struct agent *a = &agents[c->agent];
    while ((size_t)task >= n_owner) {
        owner = must(realloc(owner, (2 * n_owner + 1024) * sizeof(*owner)));
        for (size_t i = n_owner; i < 2 * n_owner + 1024; i++)
            owner[i] = -1;
        n_owner = 2 * n_owner + 1024;
    }
    n_twice += owner[task] >= 0 && owner[task] != (i64)c->agent;
    owner[task] = c->agent;
    a->task = task;
    double share = 0.5 + (double)(mix(c->agent, a->n, 10) >> 11) / (double)(1ull << 53);
    a->due_us = now_us() + (u64)(opt.think_s * 1e6 * share);
    later(c + 1, a->due_us); /* the connection of its reports */
}

static void poll_answered(struct conn *c, int status, const char *body)
{
    struct agent *a = &agents[c->agent];
    u64 now = now_us();
    i64 version, task = -1;
    if (status == 429 || status == 503) {
        n_busy++;
        later(c, now + AGAIN_US);
        return;
    }
    const char *has = strstr(body, "\"task\":");
    if (status != 200 || !number_after(body, "\"version\":", &version) || !has) {
        be_wrong("poll", status, body);
        later(c, now + AGAIN_US);
        return;
    }
    if (has[7] == '{')
        number_after(has + 7, "\"task\":", &task);
    bool news = (u64)version > a->version;
    if (!c->waits)
        note(TASK, now - c->sent_us);
    else if (news && a->reported_us)
        note(NEWS, now - a->reported_us);
    else if (!news)
        note(LATE,
             now > c->sent_us + opt.wait_s * 1000000ull ? now - c->sent_us - opt.wait_s * 1000000ull : 0);
    if (news)
        a->reported_us = 0;
    a->version = (u64)version;
    a->task = task;
    if (news && task >= 0)
        take_task(c, task);
    say_poll(c);
}

static void report_answered(struct conn *c, int status, const char *body)
{
    struct agent *a = &agents[c->agent];
    note(RESULT, now_us() - c->sent_us);
    if (status == 429 || status == 503) {
        n_busy++;
        later(c, now_us() + AGAIN_US);
        return;
    }
    if (status == 201 || status == 200) {
        n_acks++;
        if (acks)
            fprintf(acks, "%u %u %lld\n", c->agent, a->n, (long long)a->report);
    } else if (status == 409 || status == 403) {
        n_conflicts++; /* its task has ended, or was never committed */
    } else {
        be_wrong("result", status, body);
    }
    a->n++;
    a->report = -1;
}

static void answered(struct conn *c, int status, const char *body);

/* False: the connection is gone. There is one answer at a time: nothing is asked before the last is answered.
 */
static bool take_bytes(struct conn *c)
{
    char scratch[1 << 16];
    while (c->fd >= 0) {
        size_t room = c->in_len < IN - 1 ? IN - 1 - c->in_len : 0;
        ssize_t n = recv(c->fd, room ? c->in + c->in_len : scratch, room ? room : sizeof(scratch), 0);
        if (n <= 0)
            return n < 0 && errno == EAGAIN;
        if (room)
            c->in_len += (size_t)n;
        c->got += (size_t)n;
        c->in[c->in_len] = 0;
        const char *head = c->whole ? NULL : strstr(c->in, "\r\n\r\n");
        i64 length;
        if (head && (sscanf(c->in, "HTTP/1.1 %d", &c->status) != 1 ||
                     !number_after(c->in, "Content-Length: ", &length)))
            return false;
        if (head) {
            c->body = (size_t)(head + 4 - c->in);
            c->whole = c->body + (size_t)length;
        }
        if (c->whole && c->got >= c->whole) {
            c->got = c->whole = c->in_len = 0;
            answered(c, c->status, c->in + c->body);
        }
    }
    return true;
}

/* ---- Results that were acknowledged: are they there? ---- */

struct ack {
    u32 agent, n;
    long long task;
};
static struct ack *known;
static size_t n_known, next_known, n_checked, n_missing;

static void read_acks(void)
{
    FILE *f = must(fopen(opt.check, "r"));
    struct ack a;
    size_t cap = 0;
    while (fscanf(f, "%u %u %lld\n", &a.agent, &a.n, &a.task) == 3) {
        if (n_known == cap)
            known = must(realloc(known, (cap = cap ? 2 * cap : 1 << 16) * sizeof(a)));
        known[n_known++] = a;
    }
    fclose(f);
}

static void check_next(struct conn *c)
{
    if (next_known == n_known)
        return;
    c->item = next_known++;
    report(c, known[c->item].agent, known[c->item].n, known[c->item].task);
}

static void check_answered(struct conn *c, int status, const char *body)
{
    n_checked++;
    if (status != 200) {
        n_missing++;
        be_wrong("check", status, body);
    }
    check_next(c);
}

/* ---- Put together ---- */

static void answered(struct conn *c, int status, const char *body)
{
    c->busy = false;
    if (now_us() >= measure_us && now_us() < end_us) {
        n_answers++;
        by_role[c->role]++;
    }
    if (c->role == CHECK) {
        check_answered(c, status, body);
    } else if (c->role == POLL) {
        poll_answered(c, status, body);
    } else if (c->role == REPORT) {
        report_answered(c, status, body);
        say_report(c);
    } else {
        note(VIEW, now_us() - c->sent_us);
        if (status != 200)
            be_wrong("view", status, body);
        later(c, now_us() + 500000);
    }
}

/* A timer has come: whatever this connection has to do next. */
static void act(struct conn *c)
{
    if (c->busy || (c->fd < 0 && !open_connection(c)))
        return;
    if (c->role == CHECK)
        check_next(c);
    else if (c->role == POLL)
        say_poll(c);
    else if (c->role == REPORT)
        say_report(c);
    else
        look(c);
}

static bool is_over(u64 now)
{
    return opt.check ? n_checked == n_known || n_reconnects : now >= end_us;
}

static void loop(void)
{
    struct epoll_event events[512];
    struct conn *c;
    while (!is_over(now_us())) {
        u64 now = now_us();
        int wait = n_heap && heap[0].at > now ? (int)((heap[0].at - now) / 1000) + 1 : n_heap ? 0 : 100;
        int n = epoll_wait(ep, events, DH_ARRAY_LEN(events), wait < 100 ? wait : 100);
        if (n < 0 && errno != EINTR)
            die("epoll_wait");
        for (int i = 0; i < n; i++) {
            c = events[i].data.ptr;
            if (events[i].events & EPOLLOUT)
                flush_out(c);
            if (c->fd >= 0 && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR) && !take_bytes(c))
                drop(c);
        }
        now = now_us();
        while ((c = next_due(now)))
            act(c);
    }
}

static int by_number(const void *a, const void *b)
{
    u32 x = *(const u32 *)a, y = *(const u32 *)b;
    return (x > y) - (x < y);
}

static double at_share(const u32 *us, size_t n, double share)
{
    size_t i = (size_t)((double)n * share);
    return n ? us[i < n ? i : n - 1] / 1000.0 : 0;
}

static void put_span(const char *name, u32 *us, size_t n, const char *after)
{
    qsort(us, n, sizeof(*us), by_number);
    printf("\"%s\": {\"n\": %zu, \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"p999_ms\": %.3f, \"max_ms\": %.3f}%s",
           name, n, at_share(us, n, 0.5), at_share(us, n, 0.99), at_share(us, n, 0.999), at_share(us, n, 1),
           after);
}

static void put_all(void)
{
    struct rusage use;
    size_t n = 0, at = 0;
    getrusage(RUSAGE_SELF, &use);
    for (int i = 0; i < SPANS; i++)
        n += spans[i].n;
    u32 *all = must(malloc((n + 1) * sizeof(*all)));
    for (int i = 0; i < SPANS; i++)
        for (size_t k = 0; k < spans[i].n; k++)
            all[at++] = spans[i].us[k];
    printf(
        "{\"agents\": %u, \"connections\": %u, \"seconds\": %.3f, \"requests\": %llu, \"per_second\": %.1f, ",
        opt.agents, 2 * opt.agents + opt.viewers, opt.seconds, (unsigned long long)n_answers,
        (double)n_answers / opt.seconds);
    printf(
        "\"polls\": %llu, \"reports\": %llu, \"views\": %llu, \"acknowledged\": %llu, \"reconnects\": %llu, "
        "\"refused\": %llu, \"conflicts\": %llu, \"wrong\": %llu, \"first_wrong\": \"",
        (unsigned long long)by_role[POLL], (unsigned long long)by_role[REPORT],
        (unsigned long long)by_role[LOOK], (unsigned long long)n_acks, (unsigned long long)n_reconnects,
        (unsigned long long)n_busy, (unsigned long long)n_conflicts, (unsigned long long)n_wrong);
    for (const char *p = wrong; *p; p++)
        putchar(*p == '"' || *p == '\\' || *p < ' ' ? '\'' : *p);
    printf("\", \"given_twice\": %llu, \"checked\": %zu, \"missing\": %zu, \"cpu_s\": %.2f, ",
           (unsigned long long)n_twice, n_checked, n_missing + (n_known - n_checked),
           (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
               (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6);
    put_span("all", all, n, ", ");
    for (int i = 0; i < SPANS; i++)
        put_span(span_names[i], spans[i].us, spans[i].n, i + 1 < SPANS ? ", " : "}\n");
    free(all);
}

static void set_up(void)
{
    struct rlimit files;
    u32 n = opt.check ? 64 : 2 * opt.agents + opt.viewers;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_cur < n + 32) {
        fprintf(stderr, "hiveload: it may open %llu files, and needs %u\n",
                (unsigned long long)files.rlim_cur, n + 32);
        exit(2);
    }
    ep = epoll_create1(EPOLL_CLOEXEC);
    agents = must(calloc(opt.agents, sizeof(*agents)));
    struct conn *conns = must(calloc(n, sizeof(*conns)));
    begin_us = now_us();
    measure_us = begin_us + (u64)(opt.warmup * 1e6);
    end_us = measure_us + (u64)(opt.seconds * 1e6);
    for (u32 i = 0; i < opt.agents; i++)
        agents[i] = (struct agent){.task = -1, .report = -1};
    for (u32 i = 0; i < n; i++) {
        struct conn *c = &conns[i];
        u32 agent = i / 2;
        c->role = opt.check ? CHECK : agent >= opt.agents ? LOOK : i % 2 ? REPORT : POLL;
        c->agent = agent;
        c->fd = -1;
        c->port = (u16)(agent % opt.n_ports);
        later(c, begin_us + (u64)i * RAMP_US / n);
    }
}

static void read_options(int argc, char **argv)
{
    int x;
    while ((x = getopt(argc, argv, "k:b:A:p:a:c:n:v:s:w:t:W:S:")) != -1) {
        const char *v = optarg;
        switch (x) {
        case 'k':
            opt.key = v;
            break;
        case 'b':
            opt.build = v;
            break;
        case 'A':
            opt.admin = v;
            break;
        case 'p':
            opt.program = v;
            break;
        case 'a':
            opt.acks = v;
            break;
        case 'c':
            opt.check = v;
            break;
        case 'n':
            opt.agents = (unsigned)atoi(v);
            break;
        case 'v':
            opt.viewers = (unsigned)atoi(v);
            break;
        case 's':
            opt.seconds = atof(v);
            break;
        case 'w':
            opt.warmup = atof(v);
            break;
        case 't':
            opt.think_s = atof(v);
            break;
        case 'W':
            opt.wait_s = (unsigned)atoi(v);
            break;
        case 'S':
            opt.seed = (unsigned)atoi(v);
            break;
        default:
            exit(2);
        }
    }
    for (; optind < argc && opt.n_ports < MAX_PORTS; optind++)
        opt.ports[opt.n_ports++] = (u16)atoi(argv[optind]);
    if (!opt.n_ports || !opt.key || !opt.build || (opt.viewers && !opt.admin && !opt.check)) {
        fputs(
            "usage: hiveload -k KEY -b BUILD -A TOKEN [-p PROGRAM] [-n AGENTS] [-v VIEWERS] [-t RUN_SECONDS] "
            "[-W WAIT_SECONDS]\n"
            "                [-w WARM_UP] [-s SECONDS] [-S SEED] [-a ACKS] PORT...\n"
            "       hiveload -k KEY -b BUILD [-S SEED] -c ACKS PORT\n",
            stderr);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    if (opt.check)
        read_acks();
    acks = opt.acks ? must(fopen(opt.acks, "w")) : NULL;
    set_up();
    loop();
    if (acks && fclose(acks) != 0)
        die("the file of acknowledged results");
    put_all();
    return 0;
}
