/*
 * run_gather.c - one reporter for all processes that a command runs (docs/design/report.md, "A tree of
 * processes").
 *
 * Every instrumented process finds the address of this one in its environment and connects: once when it
 * starts, to say so, and again when it finds its first race, to send its records. So a connection is one
 * stream of one process. It ends when the process has sent everything; then the number of its races that were
 * not suppressed is sent back. The end of the command ends everything: what is in the sockets is still read,
 * and processes that are still connected get the number so far, and report for themselves from then on.
 *
 * Only processes of the same user are accepted: the name of an abstract socket is not a secret.
 */
#include "cli/run_gather.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "report/reporter.h"
#include "util/arena.h"
#include "util/lines.h"
#include "util/output.h"

enum { BACKLOG = 4096 }; /* for processes that start at the same time; further ones wait */

struct stream {
    struct dh_lines lines;
    u64 races; /* not suppressed */
};

/* The requested documents, as far as they can be written. */
struct documents {
    struct dh_arena arena;
    struct dh_output files[DH_RUN_DOCUMENTS];
    struct dh_reporter_document all[DH_RUN_DOCUMENTS];
    size_t n;
    bool in_place; /* one replaces the text */
    int trouble;   /* 0, or DH_EXIT_TROUBLE after a message */
};

struct gatherer {
    const struct dh_run_reports *reports;
    const char *program;
    struct dh_reporter *reporter;
    struct documents documents;
    int listener, control;
    bool full; /* no descriptor is left for a connection, until one is closed */
    struct stream **streams;
    struct pollfd *polled; /* the listener, the control pipe, then the streams */
    size_t count, cap;
};

/* ---- The address ---- */

static socklen_t name_of(const char *address, struct sockaddr_un *ret)
{
    /* After a zero byte: the name is not in the file system. src/runtime/report/gather.c does the same. */
    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(ret->sun_path + 1, sizeof(ret->sun_path) - 1, "deadheat-%s", address);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

bool dh_run_gather_is_above(void)
{
    struct sockaddr_un name;
    const char *address = getenv(DH_RUN_ADDRESS);
    if (!address || strlen(address) != DH_RUN_ADDRESS_DIGITS)
        return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t n = name_of(address, &name);
    bool there = fd >= 0 && connect(fd, (struct sockaddr *)&name, n) == 0;
    if (fd >= 0)
        close(fd);
    return there;
}

/* The descriptor, or a negative errno. */
static int listen_at_random(char *ret_address)
{
    struct sockaddr_un name;
    unsigned char random[DH_RUN_ADDRESS_DIGITS / 2];
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return -errno;
    for (size_t i = 0; i < sizeof(random); i++)
        snprintf(ret_address + 2 * i, 3, "%02x", random[i]);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t n = name_of(ret_address, &name);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&name, n) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int error = errno;
    if (fd >= 0)
        close(fd);
    return -error;
}

/* ---- Streams ---- */

static bool is_own_user(int fd)
{
    struct ucred peer;
    socklen_t n = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 && peer.uid == geteuid();
}

static void add_stream(struct gatherer *g, int fd)
{
    if (g->count == g->cap) {
        g->cap = g->cap ? g->cap * 2 : 64;
        g->streams = dh_util_realloc(g->streams, g->cap * sizeof(*g->streams));
        g->polled = dh_util_realloc(g->polled, (g->cap + 2) * sizeof(*g->polled));
    }
    struct stream *s = dh_util_alloc(sizeof(*s));
    *s = (struct stream){0};
    dh_lines_init(&s->lines, fd);
    g->streams[g->count++] = s;
}

/* Returns whether there was one. */
static bool take_connection(struct gatherer *g)
{
    int fd = accept4(g->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        g->full = errno == EMFILE || errno == ENFILE;
        return false;
    }
    if (is_own_user(fd))
        add_stream(g, fd);
    else
        close(fd);
    return true;
}

static void end_stream(struct gatherer *g, size_t i)
{
    struct stream *s = g->streams[i];
    char verdict[32];
    int n = snprintf(verdict, sizeof(verdict), "races %" PRIu64 "\n", s->races);
    send(s->lines.fd, verdict, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT); /* a process may have been killed */
    close(s->lines.fd);
    dh_lines_done(&s->lines);
    free(s);
    g->streams[i] = g->streams[--g->count];
    g->full = false;
}

/* Reads all that has arrived. False: it has ended. */
static bool read_stream(struct gatherer *g, struct stream *s)
{
    for (;;) {
        const char *text;
        size_t len;
        switch (dh_lines_next(&s->lines, &text, &len)) {
        case DH_LINES_OK:
            s->races += dh_reporter_take(g->reporter, text, len, s->lines.number);
            break;
        case DH_LINES_TOO_LONG:
        case DH_LINES_CUT: /* the process was killed in the middle of a line */
            break;
        case DH_LINES_ERROR:
            return errno == EAGAIN;
        case DH_LINES_END:
            return false;
        }
    }
}

/* Waits for up to timeout ms. Returns whether anything was there, other than the command's end. */
static bool serve(struct gatherer *g, int timeout, bool *ret_ended)
{
    bool some = false;
    g->polled[0] = (struct pollfd){.fd = g->full ? -1 : g->listener, .events = POLLIN};
    g->polled[1] = (struct pollfd){.fd = g->control, .events = POLLIN};
    for (size_t i = 0; i < g->count; i++)
        g->polled[2 + i] = (struct pollfd){.fd = g->streams[i]->lines.fd, .events = POLLIN};
    if (poll(g->polled, g->count + 2, timeout) <= 0)
        return false;
    *ret_ended |= g->polled[1].revents != 0;
    for (size_t i = g->count; i > 0; i--) { /* backwards: the last one replaces one that ends */
        if (!g->polled[1 + i].revents)
            continue;
        some = true;
        if (!read_stream(g, g->streams[i - 1]))
            end_stream(g, i - 1);
    }
    if (g->polled[0].revents)
        while (take_connection(g))
            some = true;
    return some;
}

/* ---- The process ---- */

static void open_documents(struct documents *d, const struct dh_run_reports *reports)
{
    for (size_t i = 0; i < reports->n_documents; i++) {
        const char *file = reports->documents[i].file;
        struct dh_output *to = &d->files[i];
        d->in_place |= !file;
        if (file && dh_output_open(to, &d->arena, file) != 0)
            d->trouble = dh_cli_fail("run", "cannot write '%s': %s", file, to->why);
        else
            d->all[d->n++] =
                (struct dh_reporter_document){reports->documents[i].format, file ? to->stream : stderr};
    }
}

static void close_documents(struct documents *d, const struct dh_run_reports *reports)
{
    for (size_t i = 0; i < reports->n_documents; i++)
        if (d->files[i].stream && dh_output_commit(&d->files[i]) != 0)
            d->trouble =
                dh_cli_fail("run", "cannot write '%s': %s", reports->documents[i].file, d->files[i].why);
    dh_arena_done(&d->arena);
}

static int gather(void *ctx)
{
    struct gatherer *g = ctx;
    struct dh_reporter_result result;
    const struct dh_options *settings = g->reports->settings;
    struct dh_cli_baseline *baseline = g->reports->baseline;
    const struct dh_reporter_options options = {
        .out = stderr,
        .messages = stderr,
        .input = "records",
        .suppressions = settings->suppressions,
        .baseline = baseline->is,
        .program = g->program,
        .exitcode = (u64)settings->exitcode,
        .streaming = true,
        .print = settings->report && !g->documents.in_place,
        .documents = g->documents.all,
        .n_documents = g->documents.n,
        .command = "run",
        .all = settings->all,
        .color = dh_cli_wants_color(settings->color, STDERR_FILENO),
        .source = settings->source,
        .full_names = settings->full_names,
        .stats = settings->stats,
    };
    g->polled = dh_util_alloc(2 * sizeof(*g->polled));
    g->reporter = dh_reporter_new(&options);
    for (bool ended = false; !ended;)
        serve(g, -1, &ended);
    for (bool ended = true; serve(g, 0, &ended);)
        ;
    while (g->count)
        end_stream(g, g->count - 1);
    dh_reporter_finish(g->reporter, &result);
    free(g->streams);
    free(g->polled);
    char byte;
    bool partial = read(g->control, &byte, 1) == 1;
    /* If nothing was examined, nothing is known about the baseline. */
    baseline->update &= result.processes > 0;
    int rc = dh_cli_baseline_end("run", baseline, partial, 0);
    close_documents(&g->documents, g->reports);
    int trouble = g->documents.trouble ? g->documents.trouble : rc;
    if (result.unsaved)
        trouble = dh_cli_fail("run", "not all records could be written to the output file");
    fflush(stderr); /* it is buffered */
    const struct dh_run_result found = {.complete = true,
                                        .instrumented = result.processes > 0,
                                        .status = trouble ? trouble : (int)result.status};
    return write(g->control, &found, sizeof(found)) == (ssize_t)sizeof(found) ? 0 : DH_EXIT_TROUBLE;
}

/* Each process that races needs a descriptor here; the command's limit is too low for that. */
static void allow_many_descriptors(void)
{
    struct rlimit lim;
    if (getrlimit(RLIMIT_NOFILE, &lim) != 0)
        return;
    lim.rlim_cur = lim.rlim_max;
    setrlimit(RLIMIT_NOFILE, &lim);
}

/* Whoever waits for the command's input or output to be closed waits for the programs, not for us. */
void dh_run_gather_let_go(const int *kept, size_t n)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
    }
    unsigned from = STDERR_FILENO + 1;
    for (bool more = true; more;) {
        unsigned next = ~0u; /* the lowest that is kept and not below `from` */
        for (size_t i = 0; i < n; i++)
            if ((unsigned)kept[i] >= from && (unsigned)kept[i] < next)
                next = (unsigned)kept[i];
        more = next != ~0u;
        if (next > from)
            close_range(from, more ? next - 1 : ~0u, 0);
        from = next + 1;
    }
}

int dh_run_gather_start(struct dh_run_gather *g, const struct dh_run_reports *reports, const char *program)
{
    int ends[2];
    int listener = listen_at_random(g->address);
    if (listener < 0)
        return listener;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        int error = errno;
        close(listener);
        return -error;
    }
    fflush(NULL);
    g->pid = fork();
    if (g->pid == 0) {
        struct gatherer gatherer = {
            .reports = reports, .program = program, .listener = listener, .control = ends[0]};
        int kept[2 + DH_RUN_DOCUMENTS] = {listener, ends[0]};
        size_t n = 2;
        open_documents(&gatherer.documents, reports); /* one may go to a descriptor that is let go of now */
        for (size_t i = 0; i < reports->n_documents; i++)
            if (gatherer.documents.files[i].stream)
                kept[n++] = gatherer.documents.files[i].fd;
        dh_run_gather_let_go(kept, n);
        allow_many_descriptors();
        _exit(dh_cli_report_for_others(gather, &gatherer));
    }
    int error = errno;
    close(listener);
    close(ends[0]);
    if (g->pid < 0)
        close(ends[1]);
    g->control = ends[1];
    return g->pid < 0 ? -error : 0;
}

struct dh_run_result dh_run_gather_finish(struct dh_run_gather *g, bool partial)
{
    struct dh_run_result found;
    ssize_t n;
    if (partial)
        send(g->control, "", 1, MSG_NOSIGNAL);
    shutdown(g->control, SHUT_WR);
    do
        n = read(g->control, &found, sizeof(found));
    while (n < 0 && errno == EINTR);
    close(g->control);
    while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return n == (ssize_t)sizeof(found) ? found : (struct dh_run_result){0};
}
