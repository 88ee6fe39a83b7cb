/*
 * report.c - writes race records (docs/design/race-record.md).
 *
 * Runs under DH_RANK_REPORT, on the thread that found the race, inside the runtime. A race is told from its
 * repetitions by the two calling contexts; past MANY contexts for one pair of program counters, further
 * ones count as repetitions of the first. Records go to the reporter and to the output file; what is
 * costly (symbols, grouping, suppressions) is not done here.
 */
#include "runtime/report.h"

#include <fcntl.h>
#include <string.h>

#include "base/fmt.h"
#include "base/pool.h"
#include "base/sys.h"
#include "runtime/context.h"
#include "runtime/init.h"
#include "runtime/keep.h"
#include "runtime/lockset.h"
#include "runtime/modules.h"
#include "runtime/reporter.h"

enum { LINE_MAX_BYTES = 256 << 10, DEPTH_MAX = 256, KNOWN = 8192, MANY = 8, ANCESTORS = 16 };

/* All under `lock`. */
static struct dh_lock lock = DH_LOCK_INIT(DH_RANK_REPORT);
static char line_buf[LINE_MAX_BYTES];
static struct dh_fmt line;
static int output = -1;
static bool begun;       /* a stream: its process line is in the output file, if there is one */
static bool begun_print; /* ... and the reporter has it too */
static bool ended;       /* the process has said that it ends */
static bool raced;       /* some stream that has ended held a race that was not suppressed */
static u32 races;        /* records written */
static u32 races_before; /* ... before the present stream began */

/* Open addressing; key 0 is empty. A full table means: everything new counts as lost. */
struct known {
    u64 key;
    u32 race;  /* record it belongs to */
    u32 count; /* repetitions; in by_pc: records written */
};
static struct table {
    u32 used;
    struct known e[KNOWN];
} by_context, by_pc;

static struct known *look_up(struct table *t, u64 key)
{
    u32 i = (u32)(dh_hash64(key) >> 32) % KNOWN;
    while (t->e[i].key && t->e[i].key != key)
        i = (i + 1) % KNOWN;
    if (!t->e[i].key) {
        if (t->used >= KNOWN / 2)
            return NULL;
        t->e[i].key = key;
        t->used++;
    }
    return &t->e[i];
}

/* ---- Lines ---- */

static void open_line(const char *type)
{
    dh_fmt_init(&line, line_buf, sizeof(line_buf));
    dh_fmt_str(&line, "{\"v\":1,\"type\":");
    dh_fmt_json_str(&line, type);
    /* On every line: a forked child may append to the same output file. */
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

static void send_to_file(void)
{
    if (output >= 0 && !(dh_keep_intact(output) && dh_sys_write_all(output, line.buf, line.len))) {
        dh_sys_say("the output file cannot be written any more; records are missing from it");
        dh_keep_close(output);
        output = -1;
    }
}

static void close_line(void)
{
    dh_fmt_str(&line, "}\n");
    if (line.overflow)
        return; /* cannot happen any more; a cut line would be worse than none */
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
    member_str("detector", "fasttrack");
    member_str("guarantee", "precise");
    member_str("cwd", cwd);
    dh_fmt_str(&line, "}\n");
}

/* The part of a stream that needs no race: whoever reads the file can tell that the process ran. */
static void begin_file(void)
{
    if (begun)
        return;
    begun = true;
    races_before = races;
    if (dh_opts.output[0]) {
        long fd = dh_sys3(SYS_open, (long)dh_opts.output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (fd >= 0)
            output = dh_keep_fd((int)fd);
        else
            dh_sys_say("the output file cannot be opened for writing; records are not saved");
        process_line();
        send_to_file();
    }
}

/* Before the first race of a stream is told. */
static void begin(void)
{
    if (!begun) {
        begin_file();
        races_before--; /* this one is counted */
    }
    if (begun_print)
        return;
    begun_print = true;
    /* With nothing to print and nothing to suppress the file says it all. */
    if (!dh_opts.report && dh_opts.output[0] && !dh_opts.suppressions[0])
        return;
    if (!dh_reporter_start())
        dh_sys_say(
            "a data race was found, but the reporter (the deadheat program) cannot be run; name it with "
            "DEADHEAT_OPTIONS=reporter=PATH, or save records with output=FILE");
    process_line();
    dh_reporter_send(line.buf, line.len);
}

void dh_report_begin(void)
{
    dh_lock_take(&lock);
    if (dh_opts.output[0])
        begin_file();
    dh_lock_drop(&lock);
}

/* ---- Modules, threads: told once, before the line that needs them ---- */

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

static void tell_modules_of(u32 ctx)
{
    dh_modules_take();
    for (int i = 0; ctx && i < DEPTH_MAX; i++, ctx = dh_ctx_node(ctx)->parent) {
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

/* Returns whether recursion was folded on the way. */
static bool stack(const char *name, u32 ctx, int depth)
{
    bool folded = false;
    member(name);
    dh_fmt_char(&line, '[');
    dh_modules_take();
    for (int i = 0; ctx && i < depth; i++, ctx = dh_ctx_node(ctx)->parent) {
        if (i)
            dh_fmt_char(&line, ',');
        folded |= dh_ctx_node(ctx)->folded;
        frame(dh_ctx_node(ctx)->pc);
    }
    dh_modules_drop();
    dh_fmt_char(&line, ']');
    return folded;
}

/* With its nearest ancestors: where threads make threads make threads there is no end to them. */
static void tell_thread(u32 uid, int ancestors)
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
    if (copy.parent && ancestors > 0)
        tell_thread(copy.parent, ancestors - 1);
    tell_modules_of(copy.created_at);
    open_line("thread");
    member_u64("uid", copy.uid);
    member_str("name", copy.name);
    member_u64("parent", copy.parent);
    member_u64("tid", (u64)copy.tid);
    stack("created_at", copy.created_at, DEPTH_MAX);
    close_line();
}

/* ---- Parts of a race ---- */

static void lock_set(u32 set, int lock_depth)
{
    member("locks");
    dh_fmt_char(&line, '[');
    for (bool first = true; set && set != DH_LOCKSET_UNKNOWN;
         set = dh_lockset_node(set)->parent, first = false) {
        const struct dh_lockset_node *n = dh_lockset_node(set);
        dh_fmt_str(&line, first ? "{\"addr\":" : ",{\"addr\":");
        dh_fmt_json_hex(&line, n->lock);
        member_str("mode", n->read ? "read" : "write");
        dh_modules_take();
        struct dh_module *m = dh_modules_find(n->lock);
        if (m) {
            member_u64("module", (u64)m->id);
            member_hex("offset", n->lock - m->bias);
        }
        dh_modules_drop();
        stack("acquired_at", n->ctx, lock_depth);
        dh_fmt_char(&line, '}');
    }
    dh_fmt_char(&line, ']');
}

static void one_access(u32 id, uptr addr, size_t size, int lock_depth)
{
    const struct dh_access_rec *r = dh_id_rec(id);
    dh_fmt_str(&line, "{\"kind\":");
    dh_fmt_json_str(&line, r->kind & DH_FREE ? "free" : r->kind & DH_WRITE ? "write" : "read");
    member("atomic");
    dh_fmt_str(&line, r->kind & DH_ATOMIC ? "true" : "false");
    member("range");
    dh_fmt_str(&line, r->kind & DH_RANGE ? "true" : "false");
    member_hex("addr", addr);
    member_u64("size", size);
    member_u64("thread", r->uid);
    bool folded = stack("stack", r->ctx, DEPTH_MAX);
    member("stack_folded");
    dh_fmt_str(&line, folded ? "true" : "false");
    lock_set(r->lockset, lock_depth);
    dh_fmt_char(&line, '}');
}

static void tell_access(u32 id)
{
    const struct dh_access_rec *r = dh_id_rec(id);
    tell_thread(r->uid, ANCESTORS);
    tell_modules_of(r->ctx);
    for (u32 s = r->lockset; s && s != DH_LOCKSET_UNKNOWN; s = dh_lockset_node(s)->parent) {
        tell_modules_of(dh_lockset_node(s)->ctx);
        tell_module_at(dh_lockset_node(s)->lock);
    }
}

/* Whose stack or thread-local storage is it? Live threads first: memory is reused. */
static u32 owner(uptr addr, bool *ret_tls, u64 *ret_from_top)
{
    u32 found = 0;
    dh_lock_take(&dh_threads_lock);
    for (u32 uid = dh_thread_uids(); uid-- > 1;) {
        const struct dh_thread_info *i = dh_thread_info(uid);
        bool tls = addr >= i->tls_lo && addr < i->tls_hi;
        if (!tls && (addr < i->stack_lo || addr >= i->stack_hi))
            continue;
        if (!found || i->alive) {
            found = uid;
            *ret_tls = tls;
            *ret_from_top = i->stack_hi - addr;
        }
        if (i->alive)
            break;
    }
    dh_lock_drop(&dh_threads_lock);
    return found;
}

/* Tells what the location needs first, then (with `write`) writes it. */
static void location(uptr addr, bool freed, bool write)
{
    struct dh_heap_block b;
    bool tls = false;
    u64 from_top = 0;
    u32 uid;
    if (dh_heap_find(addr, &b)) {
        if (!write) {
            tell_thread(b.uid, ANCESTORS);
            tell_modules_of(b.ctx);
            return;
        }
        dh_fmt_str(&line, "{\"kind\":\"heap\"");
        member_hex("start", b.start);
        member_u64("size", b.size);
        member_u64("offset", addr - b.start);
        member_u64("thread", b.uid);
        stack("allocated_at", b.ctx, DEPTH_MAX);
        member("freed");
        dh_fmt_str(&line, freed ? "true" : "false");
    } else if ((uid = owner(addr, &tls, &from_top))) {
        if (!write) {
            tell_thread(uid, ANCESTORS);
            return;
        }
        dh_fmt_str(&line, tls ? "{\"kind\":\"tls\"" : "{\"kind\":\"stack\"");
        member_u64("thread", uid);
        if (!tls)
            member_u64("offset_from_top", from_top);
    } else {
        if (!write) {
            tell_module_at(addr);
            return;
        }
        dh_modules_take();
        struct dh_module *m = dh_modules_find(addr);
        dh_fmt_str(&line, m ? "{\"kind\":\"global\"" : "{\"kind\":\"unknown\"");
        if (m) {
            member_u64("module", (u64)m->id);
            member_hex("offset", addr - m->bias);
        }
        dh_modules_drop();
    }
    dh_fmt_char(&line, '}');
}

/* ---- Races ---- */

static u64 leaf_pc(u32 ctx)
{
    return ctx ? dh_ctx_node(ctx)->pc : 0;
}

/* Of an unordered pair; never 0. */
static u64 pair_key(u64 a, u64 b)
{
    return (dh_hash64(a < b ? a : b) * 31 + dh_hash64(~(a < b ? b : a))) | 1;
}

/* A new race; or NULL after counting a repetition. */
static struct known *is_new(u32 id, u32 other)
{
    const struct dh_access_rec *a = dh_id_rec(id), *b = dh_id_rec(other);
    struct known *k = look_up(&by_context, pair_key(a->ctx, b->ctx));
    struct known *pcs = look_up(&by_pc, pair_key(leaf_pc(a->ctx), leaf_pc(b->ctx)));
    if (!k || !pcs) {
        dh_count(DH_COUNT_LOST_REPORTS);
        return NULL;
    }
    if (k->race) {
        k->count++;
        return NULL;
    }
    if (pcs->count >= MANY) {
        k->race = pcs->race;
        k->count++;
        return NULL;
    }
    if (races >= (u32)dh_opts.max_reports) {
        dh_count(DH_COUNT_LOST_REPORTS);
        return NULL;
    }
    k->race = ++races;
    if (pcs->count++ == 0)
        pcs->race = k->race;
    return k;
}

static void race_line(const struct dh_access_now *a, u32 id, uptr addr, u32 size, u32 number, int lock_depth)
{
    bool freed = ((dh_id_rec(id)->kind | a->kind) & DH_FREE) != 0;
    open_line("race");
    member_u64("id", number);
    member("accesses");
    dh_fmt_char(&line, '[');
    if (a->piece)
        one_access(a->id, addr & ~(uptr)(a->piece - 1), a->piece, lock_depth);
    else
        one_access(a->id, a->addr, a->size, lock_depth);
    dh_fmt_char(&line, ',');
    one_access(id, addr, size, lock_depth);
    dh_fmt_char(&line, ']');
    member("location");
    location(addr, freed, true);
}

/* One access and one earlier one meet in every word they share; that is one race. Under `lock`. */
static bool is_same_meeting(const struct dh_access_now *a, u32 id)
{
    static struct {
        uptr addr;
        u32 id, other;
    } last;
    bool same = last.addr == a->addr && last.id == a->id && last.other == id;
    last.addr = a->addr;
    last.id = a->id;
    last.other = id;
    return same;
}

void dh_report_race(const struct dh_access_now *a, u32 id, uptr addr, u32 size)
{
    /* A cell knows four bytes; the record knows the whole of a larger access. */
    u32 code = dh_id_rec(id)->size, whole = code ? 1u << (code - 1) : 0;
    if (whole > size && whole > 4) {
        addr &= ~(uptr)(whole - 1);
        size = whole;
    }
    dh_lock_take(&lock);
    bool again = is_same_meeting(a, id);
    struct known *k = again ? NULL : is_new(a->id, id);
    if (!again)
        dh_count(DH_COUNT_RACES);
    if (k) {
        bool freed = ((dh_id_rec(id)->kind | a->kind) & DH_FREE) != 0;
        begin();
        tell_access(a->id);
        tell_access(id);
        location(addr, freed, false);
        /* Many locks taken at the end of long chains of calls: better shorter stacks than no race. */
        for (int lock_depth = DEPTH_MAX; lock_depth > 0; lock_depth /= 8) {
            race_line(a, id, addr, size, k->race, lock_depth);
            if (!line.overflow)
                break;
        }
        close_line();
    }
    dh_lock_drop(&lock);
    if (k && dh_opts.on_race == DH_ON_RACE_STOP && dh_report_finish()) {
        dh_sys_say("stopped at the first race (on_race=stop)");
        dh_sys_abort();
    }
}

static void tell_repeats(void)
{
    for (u32 i = 0; i < KNOWN; i++) {
        const struct known *k = &by_context.e[i];
        if (!k->key || !k->count || k->race <= races_before)
            continue;
        open_line("repeat");
        member_u64("id", k->race);
        member_u64("count", k->count);
        close_line();
    }
}

/* The next stream starts from nothing: whoever reads it has not seen this one. */
static void end_stream(void)
{
    begun = begun_print = false;
    if (output >= 0)
        dh_keep_close(output);
    output = -1;
    dh_modules_take();
    dh_modules_unreport();
    dh_modules_drop();
    dh_lock_take(&dh_threads_lock);
    for (u32 uid = 1; uid < dh_thread_uids(); uid++)
        dh_thread_info(uid)->reported = false;
    dh_lock_drop(&dh_threads_lock);
}

bool dh_report_finish(void)
{
    dh_lock_take(&lock);
    if (begun) {
        tell_repeats();
        open_line("counters");
        member("values");
        for (int c = 0; c < DH_COUNT_MAX; c++) {
            dh_fmt_char(&line, c ? ',' : '{');
            dh_fmt_json_str(&line, dh_counter_name((enum dh_counter)c));
            dh_fmt_char(&line, ':');
            dh_fmt_u64(&line,
                       c == DH_COUNT_BLIND_MODULES ? dh_modules_blind() : dh_counter((enum dh_counter)c));
        }
        dh_fmt_char(&line, '}');
        close_line();
        open_line("end");
        member_u64("races", races - races_before);
        close_line();
        if (begun_print)
            raced |= dh_reporter_finish() != 0; /* without a verdict they count as they are */
        end_stream();
    }
    bool result = raced;
    dh_lock_drop(&lock);
    return result;
}

bool dh_report_end(void)
{
    if (!ended) /* also of a child, whose stream no race has begun */
        dh_report_begin();
    ended = true;
    return dh_report_finish();
}

void dh_report_fork_child(void)
{
    dh_reporter_forget();
    end_stream();
    raced = ended = false;
    races = 0;
    memset(&by_context, 0, sizeof(by_context));
    memset(&by_pc, 0, sizeof(by_pc));
}

void dh_report_each_lock(dh_lock_fn *fn)
{
    fn(&lock);
}
