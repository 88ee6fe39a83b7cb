/*
 * cmd_record.c - `deadheat record`: runs a program and writes what it does to a .dht file.
 *
 * The program writes its events into memory shared with this process (event/dht_feed.h); here they are packed
 * and appended to the file while the program runs. However the program ends, its last events are still in
 * that memory and are written. Signals that would end this process are passed on to the program, and the
 * recording is completed when that ends.
 *
 * The file is FILE.part until it is complete (util/output.h). If this process is killed, or the disk is full,
 * FILE.part remains, and is valid up to the last complete chunk.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/options.h"
#include "cli/cmd.h"
#include "cli/record_stacks.h"
#include "cli/record_symbols.h"
#include "event/dht_code.h"
#include "event/dht_feed.h"
#include "event/dht_write.h"
#include "util/output.h"
#include "util/path.h"
#include "util/text.h"

static const char usage[] =
    "usage: deadheat record [-o FILE] [OPTIONS] [--] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Runs a program that was compiled with 'deadheat cc' or 'deadheat c++' and records every memory access "
    "and\n"
    "every synchronisation, for 'deadheat analyze'. No race detection happens during the run. The exit "
    "status is\n"
    "the program's own.\n"
    "\n"
    "  -o FILE, --output=FILE  where to write (default: PROGRAM.dht in the current directory); the file is "
    "called\n"
    "                          FILE.part until it is complete\n"
    "  --no-symbols            omit functions and lines: faster at the end\n"
    "  --flush=MS              write pending events to the file this often, for idle threads too (default "
    "1000): if\n"
    "                          this command itself is killed, at most that much is lost\n"
    "  --filter=STATE          omit the accesses whose checks 'deadheat run --filter=STATE' skips\n"
    "  --force                 run a program that was not compiled with deadheat\n"
    "  --quiet                 do not print what was recorded\n"
    "  --help                  this text\n"
    "\n"
    "Only the program itself is recorded, not the processes it forks or the programs it starts with exec.\n"
    "\n"
    "Examples:\n"
    "  deadheat record -o run.dht -- ./prog --its-own-flag\n"
    "  deadheat analyze --detector=fasttrack,shb run.dht\n";

struct request {
    struct dh_arena arena;
    const char *output;
    const char *filter; /* a state; NULL: none */
    bool force, quiet, no_symbols;
    u32 flush_ms;
};

struct recording {
    struct dh_feed_layout *shared;
    struct dh_dht_writer writer;
    u64 lost; /* slots with invalid events */
    u32 flush_ms;
    u64 flushed;             /* when */
    u64 flush_bytes;         /* file size at which it is brought up to date anyway */
    u32 seen[DH_FEED_SLOTS]; /* bytes of a slot that were written as so far */
    struct dh_record_stacks stacks;
};

enum { FIRST_FLUSH = 64 << 10 };

static struct dh_dht_decoder decoder; /* to count what a killed program left */

/* ---- Slots ---- */

/* How many complete events there are in a slot that its thread did not finish, and their first ticket. */
static void count_events(const u8 *raw, u32 len, struct dh_dht_chunk *head)
{
    struct dh_dht_event e;
    head->first = DH_DHT_NO_TICKET;
    dh_dht_decode_begin(&decoder, raw, len, DH_DHT_CHUNK_EVENTS);
    while (dh_dht_decode_next(&decoder, &e) > 0)
        if ((dh_dht_operands(e.op) & DH_DHT_HAS_TICKET) && head->first == DH_DHT_NO_TICKET)
            head->first = e.ticket;
    head->events = DH_DHT_CHUNK_EVENTS - decoder.left;
}

static bool has_events(const struct dh_feed_slot *slot)
{
    return slot->type == DH_DHT_EVENTS || slot->type == DH_DHT_WORDS;
}

static void write_slot(struct recording *rec, u32 i, bool full, bool so_far)
{
    struct dh_feed_slot *slot = &rec->shared->slots[i];
    u32 used = __atomic_load_n(&slot->used, __ATOMIC_ACQUIRE);
    u32 calls = has_events(slot) ? __atomic_load_n(&slot->calls, __ATOMIC_ACQUIRE) : 0;
    struct dh_dht_chunk head = {.type = slot->type,
                                .thread = slot->thread,
                                .number = slot->number,
                                .first = slot->first,
                                .events = slot->events};
    if (used == 0)
        return;
    if (used > DH_DHT_CHUNK_BYTES || calls > DH_DHT_CHUNK_BYTES - used) {
        rec->lost++;
        return;
    }
    if (!full && has_events(slot)) {
        count_events(rec->shared->data[i], used, &head);
        head.type = DH_DHT_EVENTS;
    }
    if (so_far)
        head.type = DH_DHT_SO_FAR;
    if (has_events(slot) && (head.events == 0 || (!full && decoder.at != decoder.end)))
        rec->lost++;
    else
        dh_dht_write_events(&rec->writer, &head, rec->shared->data[i], used,
                            rec->shared->data[i] + DH_DHT_CHUNK_BYTES - calls, calls);
}

/* Writes what threads have done that have not filled their slots yet, so that the file does not wait for the
 * idlest of them. A slot that is filled meanwhile stays its thread's until drain frees it, so its bytes do
 * not change. */
static void write_so_far(struct recording *rec)
{
    u32 high = __atomic_load_n(&rec->shared->head.high, __ATOMIC_ACQUIRE);
    for (u32 i = 0; i < high && i < DH_FEED_SLOTS; i++) {
        struct dh_feed_slot *slot = &rec->shared->slots[i];
        u32 used = __atomic_load_n(&slot->used, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) != DH_FEED_ACTIVE || used == 0 ||
            rec->seen[i] == used)
            continue;
        rec->seen[i] = used;
        write_slot(rec, i, false, true);
    }
    dh_record_stacks(&rec->stacks, rec->shared, &rec->writer);
}

static u64 now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000 + (u64)t.tv_nsec / 1000000;
}

/* After a while, or when the file has doubled: if the disk is full then, at least half of it is usable. */
static void flush_if_due(struct recording *rec)
{
    u64 now = now_ms();
    if (now - rec->flushed < rec->flush_ms && rec->writer.bytes < rec->flush_bytes)
        return;
    if (rec->writer.bytes >= rec->flush_bytes)
        rec->flush_bytes = rec->writer.bytes * 2;
    rec->flushed = now;
    write_so_far(rec);
}

/* Writes all full slots, or all that hold anything. Returns how many. */
static u32 drain(struct recording *rec, bool all)
{
    struct dh_feed *h = &rec->shared->head;
    u32 n = 0, high = __atomic_load_n(&h->high, __ATOMIC_ACQUIRE);
    for (u32 i = 0; i < high && i < DH_FEED_SLOTS; i++) {
        struct dh_feed_slot *slot = &rec->shared->slots[i];
        u32 state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
        if (state == DH_FEED_FREE || (state == DH_FEED_ACTIVE && !all))
            continue;
        write_slot(rec, i, state == DH_FEED_FULL, false);
        rec->seen[i] = 0;
        __atomic_store_n(&slot->used, 0, __ATOMIC_RELEASE); /* before the next owner: see count_events */
        __atomic_store_n(&slot->state, DH_FEED_FREE, __ATOMIC_RELEASE);
        __atomic_fetch_add(&h->freed, state == DH_FEED_FULL, __ATOMIC_SEQ_CST);
        if (__atomic_exchange_n(&h->program_sleeps, 0, __ATOMIC_SEQ_CST))
            syscall(SYS_futex, &h->freed, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
        flush_if_due(rec); /* not before: it would write this slot again */
        n++;
    }
    return n;
}

/* Waits until some slot is full, the program may have ended, or a while has passed. */
static void doze(struct recording *rec, u32 seen)
{
    struct dh_feed *h = &rec->shared->head;
    bool soon = __atomic_load_n(&h->ending, __ATOMIC_ACQUIRE);
    struct timespec limit = {.tv_nsec = (soon ? 1 : 50) * 1000 * 1000};
    __atomic_store_n(&h->recorder_sleeps, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&h->full, __ATOMIC_SEQ_CST) == seen)
        syscall(SYS_futex, &h->full, FUTEX_WAIT, seen, &limit, NULL, 0);
    __atomic_store_n(&h->recorder_sleeps, 0, __ATOMIC_SEQ_CST);
}

/* ---- The program ---- */

static struct dh_feed_layout *share(int *ret_fd)
{
    /* Inherited across exec on purpose: the runtime in the program closes it. */
    int fd = memfd_create("deadheat-record", 0);
    if (fd < 0 || ftruncate(fd, sizeof(struct dh_feed_layout)) != 0)
        return NULL;
    struct dh_feed_layout *p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return NULL;
    p->head.magic = DH_FEED_MAGIC;
    p->head.version = DH_DHT_VERSION;
    p->head.recorder = (u32)getpid();
    *ret_fd = fd;
    return p;
}

struct start {
    char **argv;
    int fd;
};

/* In the new process. */
static void become(void *ctx)
{
    const struct start *with = ctx;
    char options[64];
    const char *given = getenv("DEADHEAT_OPTIONS");
    char *all = NULL;
    snprintf(options, sizeof(options), "record_fd=%d", with->fd);
    if (asprintf(&all, "%s%s%s", given ? given : "", given && *given ? ":" : "", options) < 0 ||
        setenv("DEADHEAT_OPTIONS", all, 1) != 0)
        _exit(126);
    execvp(with->argv[0], with->argv);
    int status = errno == ENOENT ? 127 : 126;
    dh_cli_fail("record", "cannot run '%s': %s", with->argv[0], strerror(errno));
    _exit(status);
}

/* ---- The recording ---- */

/* Writes until the program has ended. Returns its wait status. */
static int follow(struct recording *rec, pid_t pid)
{
    rec->flushed = now_ms();
    for (;;) {
        int status;
        flush_if_due(rec);
        u32 seen = __atomic_load_n(&rec->shared->head.full, __ATOMIC_SEQ_CST);
        if (drain(rec, false) > 0)
            continue;
        if (dh_cli_child_ended(pid, &status)) {
            drain(rec, true);
            return status;
        }
        doze(rec, seen);
    }
}

/* Renames the recording to its final name, if there is one, and says so. 0, or DH_EXIT_TROUBLE after a
 * message. */
static int complete(struct recording *rec, const struct request *q, struct dh_output *to, const char *name)
{
    int rc = dh_dht_write_end(&rec->writer);
    if (!rc && !rec->shared->head.claimed) {
        dh_output_abandon(to, false);
        return dh_cli_fail("record", "'%s' recorded nothing: it was not compiled by this version of deadheat",
                           name);
    }
    if (rc && to->part && rec->writer.events) {
        dh_output_abandon(to, true);
        return dh_cli_fail("record", "cannot write %s: %s; what was written is in %s", q->output,
                           strerror(-rc), to->part);
    }
    if (rc) {
        dh_output_abandon(to, false);
        return dh_cli_fail("record", "cannot write %s: %s", q->output, strerror(-rc));
    }
    if (dh_output_commit(to) != 0)
        return dh_cli_fail("record", "cannot write %s: %s", q->output, to->why);
    if (!q->quiet) {
        u64 events = rec->writer.events, bytes = rec->writer.bytes;
        fprintf(stderr, "deadheat record: %" PRIu64 " events, %.1f MB (%.2f bytes an event) in ", events,
                (double)bytes / 1e6, events ? (double)bytes / (double)events : 0.0);
        dh_text_put(stderr, q->output);
        fputc('\n', stderr);
    }
    return 0;
}

static int record(struct request *q, char **argv)
{
    static struct recording rec;
    struct dh_output to;
    int fd = -1;
    if (dh_output_open(&to, &q->arena, q->output) != 0)
        return dh_cli_fail("record", "cannot write %s: %s", q->output, to.why);
    rec.flush_ms = q->flush_ms;
    rec.flush_bytes = FIRST_FLUSH;
    rec.shared = share(&fd);
    if (!rec.shared) {
        int error = errno;
        dh_output_abandon(&to, false);
        return dh_cli_fail("record", "cannot make memory to share with the program: %s", strerror(error));
    }
    struct start with = {argv, fd};
    pid_t pid = dh_cli_child_start(become, &with);
    if (pid < 0) {
        dh_output_abandon(&to, false);
        return dh_cli_fail("record", "cannot start the program: %s", strerror(-pid));
    }
    close(fd);
    dh_dht_write_begin(&rec.writer, to.fd, 0, (u64)pid);
    int status = follow(&rec, pid);
    dh_record_stacks(&rec.stacks, rec.shared, &rec.writer);
    if (!q->no_symbols && !rec.writer.error)
        dh_record_symbols(&rec.writer, to.fd, &rec.shared->places);
    int rc = complete(&rec, q, &to, argv[0]);
    if (rec.lost)
        dh_cli_warn("record", "%" PRIu64 " stretches of events were left half-written", rec.lost);
    if (rec.shared->head.lost)
        dh_cli_warn("record", "the program has more than %d calling contexts; some stacks are missing",
                    DH_DHT_CONTEXTS);
    dh_dht_write_done(&rec.writer);
    if (rc)
        return rc;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- The command line ---- */

static int set_flag(void *request, char **argv, int *i)
{
    struct request *q = request;
    const char *arg = argv[*i], *output = dh_cli_value(arg, "output"), *flush = dh_cli_value(arg, "flush");
    const char *filter = dh_cli_value(arg, "filter");
    if (strcmp(arg, "-o") == 0) {
        if (!argv[*i + 1])
            return dh_cli_fail("record", "-o needs a file");
        q->output = argv[++*i];
    } else if (output) {
        q->output = output;
    } else if (filter) {
        q->filter = filter;
    } else if (flush) {
        char *end;
        q->flush_ms = (u32)strtoul(flush, &end, 10);
        if (*end || !*flush)
            return dh_cli_fail("record", "--flush must be a number of milliseconds");
    } else if (strcmp(arg, "--force") == 0) {
        q->force = true;
    } else if (strcmp(arg, "--quiet") == 0) {
        q->quiet = true;
    } else if (strcmp(arg, "--no-symbols") == 0) {
        q->no_symbols = true;
    } else {
        static const char *const names[] = {"--output", "--filter",     "--flush", "--force",
                                            "--quiet",  "--no-symbols", "--help"};
        return dh_cli_unknown_flag("record", arg, names, DH_ARRAY_LEN(names));
    }
    return q->output && !*q->output ? dh_cli_fail("record", "the name of the file is empty") : 0;
}

int dh_cmd_record(int argc, char **argv)
{
    (void)argc;
    struct request q = {.flush_ms = 1000};
    int i, rc = dh_cli_flags(argv, set_flag, &q, &i);
    if (rc == DH_CLI_HELP) {
        fputs(usage, stdout);
        return 0;
    }
    char **program = argv + i;
    if (!rc && !*program)
        rc = dh_cli_fail("record", "which program? For example: deadheat record -o run.dht -- ./prog");
    if (!rc)
        rc = dh_cli_check_program(&q.arena, "record", program[0], q.force);
    if (!rc && q.filter)
        rc = dh_cli_filter("record", q.filter, program[0]);
    if (!rc && !q.output)
        q.output = dh_arena_printf(&q.arena, "%s.dht", dh_path_base(program[0]));
    if (!rc) {
        dh_cli_prepare_openmp(&q.arena, "record", program[0]);
        rc = record(&q, program);
    }
    dh_arena_done(&q.arena);
    return rc;
}
