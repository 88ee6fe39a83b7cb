/*
 * report.c - writes race records (docs/design/race-record.md).
 *
 * Runs under DH_RANK_REPORT, on the thread that found the race, inside the runtime. known.c decides which
 * races are repetitions, and place.c what an address is. Records go to the reporter and to the output file;
 * expensive work (symbols, grouping, suppressions) is not done here.
 */
#include "runtime/report/report.h"

#include <fcntl.h>

#include "base/fmt.h"
#include "base/sys.h"
#include "runtime/compat/compat.h"
#include "runtime/engine/exception.h"
#include "runtime/init.h"
#include "runtime/report/about.h"
#include "runtime/report/discipline.h"
#include "runtime/report/gather.h"
#include "runtime/report/keep.h"
#include "runtime/report/known.h"
#include "runtime/report/modules.h"
#include "runtime/report/place.h"
#include "runtime/report/process_id.h"
#include "runtime/report/reporter.h"
#include "runtime/sink/tap.h"
#include "runtime/threads/context.h"
#include "runtime/threads/identity.h"
#include "runtime/threads/lockset.h"
#include "runtime/threads/period.h"

enum { LINE_MAX_BYTES = 256 << 10, DEPTH_MAX = 256, ANCESTORS = 16 };

/* All under `lock`. */
static struct dh_lock lock = DH_LOCK_INIT(DH_RANK_REPORT);
static char line_buf[LINE_MAX_BYTES];
static struct dh_fmt line;
static int output = -1;
static bool begun;       /* a stream: its process line is in the output file, if there is one */
static bool begun_print; /* ... and the reporter has it too */
static bool ended;       /* the end of the process has been reported */
static bool raced;       /* some ended stream had a race that was not suppressed */
static u32 races_before; /* ... before the current stream began */
static u32 races_gone;   /* ... before the current reporter started: an earlier one has ended */

/* ---- Lines ---- */

static void open_line(const char *type)
{
    dh_fmt_init(&line, line_buf, sizeof(line_buf));
    dh_fmt_str(&line, "{\"v\":2,\"type\":");
    dh_fmt_json_str(&line, type);
    /* On every line: others may append to the same output file, and have the same pid in their container. */
    dh_fmt_str(&line, ",\"process\":");
    dh_fmt_json_str(&line, dh_process_id());
    dh_fmt_str(&line, ",\"pid\":");
    dh_fmt_u64(&line, (u64)dh_sys3(SYS_getpid, 0, 0, 0));
}

static void member(const char *name)
{
    dh_fmt_char(&line, ',');
    dh_fmt_json_str(&line, name);
    dh_fmt_char(&line, ':');
}

static void member_u64(const char *name, u64 v)
{
    member(name);
    dh_fmt_u64(&line, v);
}

static void member_hex(const char *name, u64 v)
{
    member(name);
    dh_fmt_json_hex(&line, v);
}

static void member_str(const char *name, const char *s)
{
    member(name);
    dh_fmt_json_str(&line, s);
}

/* Millionths, as a fraction. */
static void member_share(const char *name, int millionths)
{
    int rest = millionths % 1000000;
    member(name);
    dh_fmt_u64(&line, (u64)(millionths / 1000000));
    dh_fmt_char(&line, '.');
    for (int unit = 100000; unit > 0; unit /= 10)
        dh_fmt_char(&line, (char)('0' + rest / unit % 10));
}

/* False if it did not fit: a truncated line would be worse than none. That of a race always fits, see
 * below. */
static bool complete_line(void)
{
    dh_fmt_str(&line, "}\n");
    return !line.overflow;
}

/* The program goes on as if nothing had happened, but the command above it must not claim success. */
static void tell_unsaved(void)
{
    if (!dh_gather_is_named())
        return;
    open_line("unsaved");
    if (complete_line())
        dh_gather_announce(line.buf, line.len);
}

/* The last use of the line. */
static void send_to_file(void)
{
    if (output >= 0 && !(dh_keep_intact(output) && dh_sys_write_all(output, line.buf, line.len))) {
        dh_sys_say("the output file cannot be written any more; records are missing from it");
        dh_keep_close(output);
        output = -1;
        tell_unsaved();
    }
}

static void close_line(void)
{
    if (!complete_line())
        return;
    dh_reporter_send(line.buf, line.len);
    send_to_file();
}

static void process_line(void)
{
    char cwd[1024] = "";
    struct dh_module *exe;
    dh_sys3(SYS_getcwd, (long)cwd, sizeof(cwd), 0);
    open_line("process");
    dh_modules_take();
    exe = dh_modules_find((uptr)&dh_opts);
    member_str("exe", exe ? exe->path : "");
    dh_modules_drop();
    member_str("detector", dh_lab_detector());
    member_str("guarantee", dh_lab_guarantee());
    member_str("cwd", cwd);
    dh_about_put(&line);
    if (dh_period_on && dh_opts.sample >= 0)
        member_share("sample", dh_opts.sample);
    if (dh_period_on && dh_opts.overhead >= 0)
        member_share("overhead", dh_opts.overhead);
    dh_fmt_str(&line, "}\n");
}

/* ---- Files that the user named ---- */

static void say_of_file(const char *what, const char *file, const char *cannot, long error)
{
    char text[512];
    struct dh_fmt f;
    dh_fmt_init(&f, text, sizeof(text) - 1);
    dh_fmt_str(&f, what);
    dh_fmt_json_str(&f, file);
    dh_fmt_str(&f, cannot);
    dh_fmt_str(&f, dh_sys_reason(error));
    text[f.len] = 0;
    dh_sys_say(text);
}

/* Without waiting for a reader of a pipe: the program must go on. */
static void open_output(void)
{
    static char name[DH_ABOUT_NAME_MAX];
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK;
    dh_about_expand(dh_opts.output, name);
    long fd = dh_sys3(SYS_open, (long)name, flags, 0644);
    if (fd < 0) {
        say_of_file("records are not saved: the output file ", name, " cannot be opened: ", fd);
        tell_unsaved();
        return;
    }
    dh_sys3(SYS_fcntl, fd, F_SETFL, O_APPEND);
    output = dh_keep_fd((int)fd);
}

static void check_file(const char *what, const char *path)
{
    long rc = path[0] ? dh_sys3(SYS_access, (long)path, R_OK, 0) : 0;
    if (rc < 0)
        say_of_file(what, path, " cannot be read: ", rc);
}

/* Only the reporter reads them, at the first race: too late to find out that a name was wrong. */
static void check_files(void)
{
    static bool checked; /* by this process, or the one it was forked from */
    if (!checked) {
        check_file("the suppressions ", dh_opts.suppressions);
        if (!dh_gather_is_named()) /* else the command has read it, or is going to make it */
            check_file("the baseline ", dh_opts.baseline);
    }
    checked = true;
}

/* The part of a stream that needs no race: a reader of the file can tell that the process ran. */
static void begin_file(void)
{
    if (begun)
        return;
    begun = true;
    races_before = dh_known_count();
    if (dh_opts.output[0]) {
        open_output();
        process_line();
        send_to_file();
    }
}

/* A shared reporter has neither this process's environment nor its options. */
static void tell_suppressions(void)
{
    static const char name[] = DH_COMPAT_SUPPRESSIONS "=";
    if (!dh_reporter_is_shared() || (!dh_opts.suppressions[0] && !dh_suppressions_env))
        return;
    open_line("suppressions");
    if (dh_opts.suppressions[0])
        member_str("file", dh_opts.suppressions);
    if (dh_suppressions_env)
        member_str("text", dh_suppressions_env + sizeof(name) - 1);
    if (complete_line())
        dh_reporter_send(line.buf, line.len);
}

/* A new reader knows nothing yet: repeat everything. */
static void tell_all_again(void)
{
    dh_modules_take();
    dh_modules_unreport();
    dh_modules_drop();
    dh_lock_take(&dh_threads_lock);
    for (u32 n = 1; n < dh_thread_uids(); n++)
        dh_thread_info(dh_uid_from(n))->reported = false;
    dh_lock_drop(&dh_threads_lock);
}

/* The command that started this process has ended, but the process has not: it continues with a reporter of
 * its own. */
static void follow_reporter(void)
{
    int64_t verdict;
    if (!begun_print || !dh_reporter_left(&verdict))
        return;
    raced |= verdict != 0;
    begun_print = false;
    tell_all_again();
}

/* Before the first race of a stream is reported. */
static void begin(void)
{
    if (!begun) {
        begin_file();
        races_before--; /* this one is counted */
    }
    follow_reporter();
    if (begun_print)
        return;
    begun_print = true;
    races_gone = dh_known_count() - 1;
    /* With nothing to print and nothing to suppress, the file is enough, unless a command above us
     * gathers. */
    if (!dh_opts.report && dh_opts.output[0] && !dh_opts.suppressions[0] && !dh_opts.baseline[0] &&
        !dh_gather_is_named())
        return;
    if (!dh_reporter_start())
        dh_sys_say(
            dh_runtime_secure
                ? "a data race was found; the reporter (the deadheat program) is not run, because the "
                  "program "
                  "has other privileges than the user who started it: start it as the user whose privileges "
                  "it gets, for a full report"
                : "a data race was found, but the reporter (the deadheat program) cannot be run; put "
                  "it on the PATH, name its directory by DEADHEAT_HOME or the program itself by "
                  "DEADHEAT_OPTIONS=reporter=PATH, or save records with output=FILE");
    process_line();
    dh_reporter_send(line.buf, line.len);
    tell_suppressions();
}

void dh_report_announce(void)
{
    dh_lock_take(&lock);
    if (dh_gather_is_named()) {
        process_line();
        dh_gather_announce(line.buf, line.len);
    }
    dh_lock_drop(&lock);
}

void dh_report_begin(void)
{
    dh_lock_take(&lock);
    check_files();
    if (dh_opts.output[0])
        begin_file();
    dh_lock_drop(&lock);
}

/* ---- Modules, threads: described once, before the line that needs them ---- */

static void tell_module(struct dh_module *m)
{
    if (m->reported)
        return;
    m->reported = true;
    open_line("module");
    member_u64("id", (u64)m->id);
    member_str("path", m->path);
    member_str("build_id", m->build_id);
    member_hex("lo", m->lo);
    member_hex("hi", m->hi);
    member_hex("bias", m->bias);
    close_line();
}

static void tell_modules_of(dh_ctx_t ctx)
{
    dh_modules_take();
    for (int i = 0; !dh_ctx_is_none(ctx) && i < DEPTH_MAX; i++, ctx = dh_ctx_node(ctx)->parent) {
        struct dh_module *m = dh_modules_find(dh_ctx_node(ctx)->pc);
        if (m)
            tell_module(m);
    }
    dh_modules_drop();
}

static void tell_module_at(uptr addr)
{
    dh_modules_take();
    struct dh_module *m = dh_modules_find(addr);
    if (m)
        tell_module(m);
    dh_modules_drop();
}

static void frame(uptr pc)
{
    struct dh_module *m = dh_modules_find(pc);
    dh_fmt_char(&line, '[');
    dh_fmt_i64(&line, m ? m->id : -1);
    dh_fmt_char(&line, ',');
    dh_fmt_json_hex(&line, m ? pc - m->bias : pc);
    dh_fmt_char(&line, ']');
}

/* The functions that are DH_CALLS_PROGRAM; the linker gives names to the ends of the section. */
extern const char __start_dh_calls_program[] __attribute__((visibility("hidden")));
extern const char __stop_dh_calls_program[] __attribute__((visibility("hidden")));

bool dh_report_shows(uptr pc)
{
    bool ours = pc >= (uptr)__start_dh_calls_program && pc < (uptr)__stop_dh_calls_program;
    return !ours && pc != 0; /* 0: libarcher enters tasks without a caller */
}

/* Returns whether recursion was folded on the way. */
static bool stack(const char *name, dh_ctx_t ctx, int depth)
{
    bool folded = false, first = true;
    member(name);
    dh_fmt_char(&line, '[');
    dh_modules_take();
    for (int i = 0; !dh_ctx_is_none(ctx) && i < depth; i++, ctx = dh_ctx_node(ctx)->parent) {
        folded |= dh_ctx_node(ctx)->folded;
        if (!dh_report_shows(dh_ctx_node(ctx)->pc))
            continue;
        if (!first)
            dh_fmt_char(&line, ',');
        frame(dh_ctx_node(ctx)->pc);
        first = false;
    }
    dh_modules_drop();
    dh_fmt_char(&line, ']');
    return folded;
}

/* With its nearest ancestors: where threads create threads that create threads, there is no end to them. */
static void tell_thread(dh_uid_t uid, int ancestors)
{
    struct dh_thread_info copy;
    dh_lock_take(&dh_threads_lock);
    struct dh_thread_info *info = dh_thread_info(uid);
    bool tell = info && !info->reported;
    if (tell) {
        info->reported = true;
        copy = *info;
    }
    dh_lock_drop(&dh_threads_lock);
    if (!tell)
        return;
    if (!dh_uid_is_none(copy.parent) && ancestors > 0)
        tell_thread(copy.parent, ancestors - 1);
    tell_modules_of(copy.created_at);
    open_line("thread");
    member_u64("uid", dh_uid_raw(copy.uid));
    member_str("name", copy.name);
    member_u64("parent", dh_uid_raw(copy.parent));
    member_u64("tid", (u64)copy.tid);
    stack("created_at", copy.created_at, DEPTH_MAX);
    close_line();
}

/* ---- Parts of a race ---- */

/* Where a lock is, if it is a global. */
static void global(uptr lock)
{
    struct dh_module *m = dh_modules_find(lock);
    if (m) {
        member_u64("module", (u64)m->id);
        member_hex("offset", lock - m->bias);
    }
}

static void lock_set(dh_lockset_t set, int lock_depth)
{
    member("locks");
    dh_fmt_char(&line, '[');
    for (bool first = true; dh_lockset_is_listed(set); set = dh_lockset_node(set)->parent, first = false) {
        const struct dh_lockset_node *n = dh_lockset_node(set);
        dh_fmt_str(&line, first ? "{\"addr\":" : ",{\"addr\":");
        dh_fmt_json_hex(&line, n->lock);
        member_str("mode", n->read ? "read" : "write");
        dh_modules_take();
        global(n->lock);
        dh_modules_drop();
        stack("acquired_at", n->ctx, lock_depth);
        dh_fmt_char(&line, '}');
    }
    dh_fmt_char(&line, ']');
}

static void one_access(dh_id_t id, uptr addr, size_t size, int lock_depth)
{
    const struct dh_access_rec r = dh_id_get(id);
    dh_fmt_str(&line, "{\"kind\":");
    dh_fmt_json_str(&line, r.kind & DH_FREE ? "free" : r.kind & DH_WRITE ? "write" : "read");
    member("atomic");
    dh_fmt_str(&line, r.kind & DH_ATOMIC ? "true" : "false");
    member("range");
    dh_fmt_str(&line, r.kind & DH_RANGE ? "true" : "false");
    member_hex("addr", addr);
    member_u64("size", size);
    member_u64("thread", dh_uid_raw(r.uid));
    bool folded = stack("stack", r.ctx, DEPTH_MAX);
    member("stack_folded");
    dh_fmt_str(&line, folded ? "true" : "false");
    lock_set(r.lockset, lock_depth);
    dh_fmt_char(&line, '}');
}

static void tell_access(dh_id_t id)
{
    const struct dh_access_rec r = dh_id_get(id);
    tell_thread(r.uid, ANCESTORS);
    tell_modules_of(r.ctx);
    for (dh_lockset_t s = r.lockset; dh_lockset_is_listed(s); s = dh_lockset_node(s)->parent) {
        tell_modules_of(dh_lockset_node(s)->ctx);
        tell_module_at(dh_lockset_node(s)->lock);
    }
}

/* ---- Locations ---- */

/* What the location needs before its line. */
static void tell_place(const struct dh_place *at)
{
    if (at->kind == DH_PLACE_HEAP) {
        tell_thread(at->block.uid, ANCESTORS);
        tell_modules_of(at->block.ctx);
    }
    if (!dh_uid_is_none(at->uid))
        tell_thread(at->uid, ANCESTORS);
    if (at->frame.pc)
        tell_module_at(at->frame.pc);
    if (at->module) {
        dh_modules_take();
        tell_module(at->module);
        dh_modules_drop();
    }
}

static void place_frame(const struct dh_place_frame *f)
{
    member("frame");
    dh_fmt_str(&line, "{\"pc\":");
    dh_modules_take();
    frame(f->pc);
    dh_modules_drop();
    member_hex("sp", f->sp);
    member_hex("bp", f->bp);
    member_hex("cfa", f->cfa);
    dh_fmt_char(&line, '}');
}

static void place(const struct dh_place *at, uptr addr, bool freed)
{
    static const char *const kinds[] = {"unknown", "heap", "stack", "tls", "global"};
    dh_fmt_str(&line, "{\"kind\":");
    dh_fmt_json_str(&line, kinds[at->kind]);
    if (at->kind == DH_PLACE_HEAP) {
        member_hex("start", at->block.start);
        member_u64("size", at->block.size);
        member_u64("offset", addr - at->block.start);
        member_u64("thread", dh_uid_raw(at->block.uid));
        stack("allocated_at", at->block.ctx, DEPTH_MAX);
        member("freed");
        dh_fmt_str(&line, freed ? "true" : "false");
    }
    if (!dh_uid_is_none(at->uid))
        member_u64("thread", dh_uid_raw(at->uid));
    if (at->kind == DH_PLACE_STACK)
        member_u64("offset_from_top", at->from_top);
    if (at->frame.pc)
        place_frame(&at->frame);
    if (at->module) {
        member_u64("module", (u64)at->module->id);
        member_hex("offset", at->offset);
    }
    dh_fmt_char(&line, '}');
}

/* ---- The locks that accesses at the two places are usually made under ---- */

static uptr place_of(dh_id_t id)
{
    dh_ctx_t ctx = dh_id_get(id).ctx;
    return dh_ctx_is_none(ctx) ? 0 : dh_ctx_node(ctx)->pc;
}

static void tell_discipline(const struct dh_discipline *d)
{
    if (d->held)
        tell_module_at(d->lock);
    if (d->held_from)
        tell_module_at(d->taken_at);
    if (d->ordered)
        tell_module_at(d->order);
}

static void discipline(const struct dh_discipline *d)
{
    member("discipline");
    dh_fmt_str(&line, "{\"accesses\":");
    dh_fmt_u64(&line, d->accesses);
    dh_modules_take();
    if (d->held) {
        member_hex("lock", d->lock);
        global(d->lock);
        member_u64("held", d->held);
    }
    if (d->held_from) {
        member("taken_at");
        frame(d->taken_at);
        member_u64("held_from", d->held_from);
    }
    member_u64("observations", d->observations);
    if (d->ordered) {
        member_u64("ordered", d->ordered);
        member("order");
        dh_fmt_str(&line, "{\"addr\":");
        dh_fmt_json_hex(&line, d->order);
        global(d->order);
        dh_fmt_char(&line, '}');
    }
    dh_modules_drop();
    dh_fmt_char(&line, '}');
}

static u32 newest_thread(void)
{
    dh_lock_take(&dh_threads_lock);
    u32 n = dh_thread_uids() - 1;
    dh_lock_drop(&dh_threads_lock);
    return n;
}

/* ---- Without a reporter ---- */

/* "write at prog+0x1189". Whoever started a setuid program chose its name: no control characters. */
static void say_access(struct dh_fmt *f, dh_id_t id)
{
    const struct dh_access_rec r = dh_id_get(id);
    uptr pc = place_of(id);
    dh_fmt_str(f, r.kind & DH_FREE ? "free at " : r.kind & DH_WRITE ? "write at " : "read at ");
    dh_modules_take();
    const struct dh_module *m = dh_modules_find(pc);
    if (m) {
        const char *name = m->path;
        for (const char *p = name; *p; p++)
            if (*p == '/')
                name = p + 1;
        for (; *name; name++)
            dh_fmt_char(f, *name > ' ' && *name < 0x7f ? *name : '?');
        dh_fmt_char(f, '+');
        dh_fmt_hex(f, pc - 1 - m->bias); /* pc is where the access returns to */
    } else {
        dh_fmt_str(f, "an unknown place");
    }
    dh_modules_drop();
}

/* Enough for addr2line(1), so that a race is not lost because nobody could print it. */
static void say_race(dh_id_t now, dh_id_t earlier)
{
    static char text[1024]; /* under `lock` */
    struct dh_fmt f;
    dh_fmt_init(&f, text, sizeof(text));
    dh_fmt_str(&f, "data race: ");
    say_access(&f, now);
    dh_fmt_str(&f, ", ");
    say_access(&f, earlier);
    dh_sys_say(text);
}

/* ---- Races ---- */

static void race_line(const struct dh_access_now *a, dh_id_t id, uptr addr, u32 size, uptr at,
                      const struct dh_place *found, const struct dh_discipline *usual, u32 number,
                      int lock_depth)
{
    bool freed = ((dh_id_kind(id) | a->kind) & DH_FREE) != 0;
    open_line("race");
    member_u64("id", number);
    member("accesses");
    dh_fmt_char(&line, '[');
    if (a->piece)
        one_access(a->id, at & ~(uptr)(a->piece - 1), a->piece, lock_depth);
    else
        one_access(a->id, a->addr, a->size, lock_depth);
    dh_fmt_char(&line, ',');
    one_access(id, addr, size, lock_depth);
    dh_fmt_char(&line, ']');
    member("location");
    place(found, at, freed);
    discipline(usual);
    member_u64("newest_thread", newest_thread());
}

/* One access and one earlier one meet in every word they share; that is one race. Under `lock`. */
static bool is_same_meeting(const struct dh_access_now *a, dh_id_t id)
{
    static struct {
        uptr addr;
        dh_id_t id, other;
    } last;
    bool same = last.addr == a->addr && dh_id_eq(last.id, a->id) && dh_id_eq(last.other, id);
    last.addr = a->addr;
    last.id = a->id;
    last.other = id;
    return same;
}

void dh_report_race(const struct dh_access_now *a, dh_id_t id, uptr addr, u32 size, uptr at)
{
    if ((dh_exception_on() && dh_exception_reported(a, id)) || dh_benign_has(at, 1) ||
        dh_identity_in_turn(a->t, dh_id_get(id).uid, at))
        return;
    dh_lock_take(&lock);
    bool again = is_same_meeting(a, id);
    u32 number = again ? 0 : dh_known_race(a->id, id, at);
    if (!again)
        dh_runtime_count(DH_COUNT_RACES);
    if (number) {
        struct dh_place found;
        struct dh_discipline usual;
        dh_step_widen(id, &addr, &size);
        begin();
        tell_access(a->id);
        tell_access(id);
        dh_place_find(at, dh_identity_native()->uid, &found);
        tell_place(&found);
        dh_discipline_find(a->t, place_of(a->id), place_of(id), &usual);
        tell_discipline(&usual);
        /* Many locks taken in deep calls may not fit: better shorter stacks than no race. */
        for (int lock_depth = DEPTH_MAX; lock_depth > 0; lock_depth /= 8) {
            race_line(a, id, addr, size, at, &found, &usual, number, lock_depth);
            if (!line.overflow)
                break;
        }
        close_line();
        if (dh_opts.report && !dh_reporter_is_running())
            say_race(a->id, id);
    }
    dh_lock_drop(&lock);
    if (number)
        dh_compat_raced(a, id, addr, size);
    if (number && dh_opts.on_race == DH_ON_RACE_STOP && dh_report_finish()) {
        dh_sys_say("stopped at the first race (on_race=stop)");
        dh_sys_abort();
    }
    if (dh_exception_on())
        dh_exception_note(a, id, addr, size, number);
}

static void tell_repeat(u32 race, u32 count)
{
    if (race <= races_before)
        return;
    open_line("repeat");
    member_u64("id", race);
    member_u64("count", count);
    if (race > races_gone)
        close_line();
    else if (complete_line())
        send_to_file();
}

/* The next stream starts from nothing: its reader has not seen this one. */
static void end_stream(void)
{
    begun = begun_print = false;
    if (output >= 0)
        dh_keep_close(output);
    output = -1;
    tell_all_again();
}

bool dh_report_finish(void)
{
    dh_lock_take(&lock);
    if (begun) {
        dh_known_each_repeat(tell_repeat);
        open_line("counters");
        member("values");
        for (int c = 0; c < (dh_opts.stats ? DH_COUNT_MAX : DH_RULES_FIRST); c++) {
            dh_fmt_char(&line, c ? ',' : '{');
            dh_fmt_json_str(&line, dh_runtime_counter_name((enum dh_counter)c));
            dh_fmt_char(&line, ':');
            dh_fmt_u64(&line, dh_runtime_counter((enum dh_counter)c));
        }
        dh_fmt_char(&line, '}');
        close_line();
        open_line("end");
        member_u64("races", dh_known_count() - races_before);
        close_line();
        if (begun_print)
            raced |= dh_reporter_finish() != 0; /* without a verdict all of them count */
        end_stream();
    }
    bool result = raced;
    dh_lock_drop(&lock);
    return result;
}

bool dh_report_end(void)
{
    if (!ended) /* also for a child without races, whose stream has not begun */
        dh_report_begin();
    ended = true;
    return dh_report_finish();
}

void dh_report_exits(int status)
{
    if (!dh_gather_is_named())
        return;
    dh_lock_take(&lock);
    open_line("exit");
    member_u64("status", (u64)status);
    if (complete_line())
        dh_gather_announce(line.buf, line.len);
    dh_lock_drop(&lock);
}

void dh_report_fork_child(void)
{
    dh_reporter_forget();
    end_stream();
    raced = ended = false;
    dh_known_forget();
}

void dh_report_each_lock(dh_lock_fn *fn)
{
    fn(&lock);
}
