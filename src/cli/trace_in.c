/*
 * trace_in.c - see trace_in.h.
 */
#include "cli/trace_in.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/pool.h"
#include "cli/cmd.h"
#include "util/output.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int open_recording(struct dh_trace_in *t)
{
    int rc = dh_dht_open(&t->dht, t->fd);
    dh_trace_symbols_init(&t->symbols);
    if (rc == 0)
        return 0;
    if (rc == -EBADMSG && t->dht)
        rc = dh_cli_fail(t->command, "%s: %s", t->shown, dh_dht_error(t->dht));
    else if (rc == -ENOMEM)
        rc = dh_cli_fail(t->command, "%s: there is not enough memory for what it is about", t->shown);
    else
        rc = dh_cli_fail(t->command, "cannot read %s: %s", t->shown, strerror(-rc));
    dh_trace_in_close(t);
    return rc;
}

/* Other kinds of files that people may give instead of a trace, or NULL. */
static const char *other_kind(const char *begin)
{
    if (memcmp(begin, "\177ELF", 4) == 0)
        return "is a program, and no trace: 'deadheat record' runs it and writes one";
    if (memcmp(begin, "{\"v\":", 5) == 0)
        return "holds race records, and is no trace: 'deadheat report' prints them";
    return NULL;
}

/* If the recorder was killed, the recording does not have its final name. */
static int cannot_open(const char *command, const char *file)
{
    int error = errno;
    struct dh_arena arena = {0};
    const char *part = dh_arena_printf(&arena, "%s.part", file);
    int rc = error == ENOENT && access(part, R_OK) == 0
                 ? dh_cli_fail(command, "cannot open %s: it was not completed; what was recorded is in %s",
                               file, part)
                 : dh_cli_fail(command, "cannot open %s: %s", file, strerror(error));
    dh_arena_done(&arena);
    return rc;
}

int dh_trace_in_open(struct dh_trace_in *t, const char *command, const char *file)
{
    struct stat st;
    bool is_stdin = strcmp(file, "-") == 0;
    *t = (struct dh_trace_in){.command = command, .file = file, .shown = is_stdin ? "standard input" : file};
    t->fd = is_stdin ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
    dh_output_reads(file);
    if (t->fd < 0)
        return cannot_open(command, file);
    if (fstat(t->fd, &st) == 0 && S_ISREG(st.st_mode))
        t->size = (u64)st.st_size;
    /* The memory a trace needs has little to do with its size. */
    dh_pool_limit((size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE));
    t->progress = isatty(STDERR_FILENO);
    t->started = t->shown_at = now();
    char begin[8];
    ssize_t n = pread(t->fd, begin, sizeof(begin), 0);
    if (n == sizeof(begin) && dh_dht_is(begin, sizeof(begin)))
        return open_recording(t);
    const char *other = n == sizeof(begin) ? other_kind(begin) : NULL;
    if (other) {
        dh_trace_in_close(t);
        return dh_cli_fail(command, "%s %s", t->shown, other);
    }
    if (dh_std_init(&t->std, t->fd) != 0) {
        dh_trace_in_close(t);
        return dh_cli_fail(command, "out of memory");
    }
    return 0;
}

void dh_trace_in_close(struct dh_trace_in *t)
{
    dh_std_done(&t->std);
    if (t->dht)
        dh_trace_symbols_done(&t->symbols);
    dh_dht_close(t->dht);
    if (t->fd != STDIN_FILENO)
        close(t->fd);
}

bool dh_trace_in_has_code(const struct dh_trace_in *t)
{
    struct dh_dht_place program;
    return t->dht && dh_dht_program(t->dht, &program);
}

double dh_trace_in_seconds(const struct dh_trace_in *t)
{
    return now() - t->started;
}

static void show_progress(struct dh_trace_in *t)
{
    enum { WIDTH = 30 };
    double at = now(), spent = at - t->started;
    if (at - t->shown_at < 0.2)
        return;
    t->shown_at = at;
    fprintf(stderr, "\r\033[K");
    u64 bytes = t->std.bytes;
    if (t->dht) {
        struct dh_dht_stats stats;
        dh_dht_stats(t->dht, &stats);
        bytes = stats.bytes;
    }
    if (t->size && bytes <= t->size) {
        double part = (double)bytes / (double)t->size;
        int full = (int)(part * WIDTH);
        fprintf(stderr, "[%.*s%*s] %3.0f%%  ", full, "##############################", WIDTH - full, "",
                part * 100);
        if (part > 0)
            fprintf(stderr, "%.0f s left  ", spent / part - spent);
    }
    fprintf(stderr, "%" PRIu64 " events, %.1f million/s", t->events, (double)t->events / spent / 1e6);
    fflush(stderr);
}

void dh_trace_in_quiet(struct dh_trace_in *t)
{
    if (t->progress && t->shown_at != t->started)
        fputs("\r\033[K", stderr);
}

long dh_trace_in_read(struct dh_trace_in *t, struct dh_event *events, size_t cap)
{
    long n = t->dht ? dh_dht_read(t->dht, events, cap) : dh_std_read(&t->std, events, cap);
    if (n > 0) {
        t->events += (u64)n;
        if (t->progress)
            show_progress(t);
        return n;
    }
    dh_trace_in_quiet(t);
    if (n == 0)
        return 0;
    if (t->dht && (n == -EBADMSG || n == -ENOMEM))
        dh_cli_fail(t->command, "%s: %s", t->shown, dh_dht_error(t->dht));
    else if (n == -EBADMSG)
        dh_cli_fail(t->command, "%s:%" PRIu64 ": %s", t->shown, t->std.line, t->std.error);
    else
        dh_cli_fail(t->command, "cannot read %s: %s", t->shown, strerror((int)-n));
    return -1;
}

/* If the recorder was killed, the recording is usable up to there. */
static void warn_incomplete(const struct dh_trace_in *t)
{
    struct dh_dht_stats stats;
    dh_dht_stats(t->dht, &stats);
    if (stats.complete)
        return;
    if (stats.cut == DH_DHT_NO_TICKET)
        dh_cli_warn(t->command, "%s: the recorder was killed or could not write; its last events are missing",
                    t->shown);
    else
        dh_cli_warn(t->command,
                    "%s: the recorder was killed or could not write; what follows synchronisation %" PRIu64
                    " is not used",
                    t->shown, stats.cut);
}

bool dh_trace_in_whole(const struct dh_trace_in *t)
{
    struct dh_dht_stats stats = {.complete = true};
    if (t->dht)
        dh_dht_stats(t->dht, &stats);
    return t->events > 0 && stats.complete;
}

void dh_trace_in_warn(const struct dh_trace_in *t)
{
    const struct dh_form *form = dh_trace_in_form(t);
    if (t->dht)
        warn_incomplete(t);
    if (t->events == 0)
        dh_cli_warn(t->command, "%s: there is no event in it", t->shown);
    for (u32 w = 0; w < DH_FORM_WARNINGS; w++) {
        if (form->warnings[w])
            dh_cli_warn(t->command, "%s:%" PRIu64 ": %s: %" PRIu64 " (this is the first)", t->shown,
                        form->first[w] + 1, dh_form_warning_text(w), form->warnings[w]);
    }
}

struct dh_trace_in_counts dh_trace_in_counts(const struct dh_trace_in *t)
{
    struct dh_dht_stats stats;
    if (!t->dht)
        return (struct dh_trace_in_counts){t->std.threads.n, t->std.locks.n, t->std.variables.n};
    dh_dht_stats(t->dht, &stats);
    return (struct dh_trace_in_counts){stats.threads, stats.locks, stats.variables};
}

u64 dh_trace_in_recorded(const struct dh_trace_in *t)
{
    struct dh_dht_stats stats;
    if (!t->dht)
        return t->events;
    dh_dht_stats(t->dht, &stats);
    return stats.stored;
}

const struct dh_form *dh_trace_in_form(const struct dh_trace_in *t)
{
    return t->dht ? dh_dht_form(t->dht) : &t->std.form;
}

static char *text(struct dh_trace_in *t)
{
    return t->texts[t->next_text++ % DH_ARRAY_LEN(t->texts)];
}

const char *dh_trace_in_thread(struct dh_trace_in *t, u32 thread)
{
    return t->dht ? dh_dht_thread_name(t->dht, thread, text(t), sizeof(t->texts[0]))
                  : dh_names_get(&t->std.threads, thread);
}

const char *dh_trace_in_variable(struct dh_trace_in *t, u32 variable)
{
    return t->dht ? dh_dht_variable_name(t->dht, variable, text(t), sizeof(t->texts[0]))
                  : dh_names_get(&t->std.variables, variable);
}

const char *dh_trace_in_global(struct dh_trace_in *t, u32 variable)
{
    struct dh_symbol_variable found;
    struct dh_dht_place place;
    u64 addr;
    u32 size;
    if (!t->dht)
        return NULL;
    dh_dht_variable(t->dht, variable, &addr, &size);
    if (!dh_dht_place_of(t->dht, addr, &place) || !dh_trace_symbols_global(&t->symbols, &place, size, &found))
        return NULL;
    return found.display;
}

const char *dh_trace_in_lock(struct dh_trace_in *t, u32 lock)
{
    return t->dht ? dh_dht_lock_name(t->dht, lock, text(t), sizeof(t->texts[0]))
                  : dh_names_get(&t->std.locks, lock);
}

/* The last part of a path. */
static const char *base_of(const char *path, u32 len, u32 *ret_len)
{
    u32 from = len;
    while (from > 0 && path[from - 1] != '/')
        from--;
    *ret_len = len - from;
    return path + from;
}

const char *dh_trace_in_site(struct dh_trace_in *t, u32 site)
{
    struct dh_dht_place place;
    char *to = text(t);
    if (!t->dht || !dh_dht_place(t->dht, site, &place)) {
        snprintf(to, sizeof(t->texts[0]), "%" PRId32, (int32_t)site);
    } else if (place.symbol) {
        snprintf(to, sizeof(t->texts[0]), "%s", place.symbol);
        for (char *c = to; *c; c++)
            *c = *c == '\t' ? ' ' : *c;
    } else {
        u32 n = 0;
        const char *name = place.path ? base_of(place.path, place.path_len, &n) : "";
        snprintf(to, sizeof(t->texts[0]), "%.*s+0x%" PRIx64, (int)n, name, place.offset);
    }
    return to;
}

const char *dh_trace_in_target(struct dh_trace_in *t, const struct dh_event *e)
{
    switch (dh_event_space(e->op)) {
    case DH_SPACE_VARIABLE:
        return dh_trace_in_variable(t, e->target);
    case DH_SPACE_LOCK:
        return dh_trace_in_lock(t, e->target);
    case DH_SPACE_THREAD:
        return dh_trace_in_thread(t, e->target);
    default:
        return "";
    }
}
