/*
 * moment.c - see moment.h. Stacks are unwound by libdwfl, with tables from the program's files and memory
 * from the copies.
 */
#include "chase/moment.h"

#include <dirent.h>
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chase/atomic.h"

enum { STACK_BYTES = 256 << 10, RED_ZONE = 128, RSP = 4, CODE_BYTES = 4096 };

struct thread {
    struct dh_control_access access;
    const struct dh_control_site *site;
    u64 uid;
    char name[32];
    u8 *stack; /* from `bottom` upwards */
    u64 bottom;
    size_t n;
};

struct dh_chase_moment {
    struct dh_arena arena;
    pid_t pid;
    u64 delay_us;
    struct dh_control_site sites[2]; /* all zero for a thread that hit a watchpoint */
    struct thread threads[2];        /* the second to come, the one that waited; or swapped, as in the
                                      * record */
    int waited;                      /* which of them waited */
    char *maps;                      /* the mappings, as reported by the kernel */
    size_t n_maps;
    bool prepared;
    Dwfl *dwfl;   /* built from them; NULL: not created, or could not be */
    bool changed; /* the second one, if it hit a watchpoint, has written */
    u8 *code;     /* of that thread: what it executed, and a little more */
    u64 code_at;
    size_t code_n;
    struct dh_chase_file *file; /* the file that contains the first access */
    u64 bias;                   /* address in the program = address in that file + this */
};

/* ---- Copying ---- */

static int by_number(const void *a, const void *b)
{
    u32 x = *(const u32 *)a, y = *(const u32 *)b;
    return (x > y) - (x < y);
}

/* A thread's position among those of its process, ordered by tid from that of the first thread on, since the
 * kernel starts again at low numbers when it has used them up; the first is 1. One of them may have ended
 * already. */
static u64 uid_of(pid_t pid, u32 tid, u32 ended)
{
    char path[64];
    u32 *after = NULL; /* by how much each tid exceeds that of the first */
    size_t n = 0, cap = 0;
    u64 uid = 0;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        if (e->d_name[0] < '0' || e->d_name[0] > '9')
            continue;
        after = dh_util_grow(after, n, &cap, sizeof(*after));
        after[n++] = (u32)atoi(e->d_name) - (u32)pid;
        ended = after[n - 1] == ended - (u32)pid ? 0 : ended;
    }
    if (ended) {
        after = dh_util_grow(after, n, &cap, sizeof(*after));
        after[n++] = ended - (u32)pid;
    }
    if (n)
        qsort(after, n, sizeof(*after), by_number);
    for (size_t i = 0; i < n && !uid; i++)
        uid = after[i] == tid - (u32)pid ? i + 1 : 0;
    if (dir)
        closedir(dir);
    free(after);
    return uid ? uid : tid;
}

static void read_name(pid_t pid, u32 tid, char *ret, size_t n)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task/%u/comm", (int)pid, tid);
    FILE *f = fopen(path, "re");
    if (f && fgets(ret, (int)n, f))
        ret[strcspn(ret, "\n")] = 0;
    if (f)
        fclose(f);
}

/* A thread's address in the program; it may be in a slot, after an access made out of line. */
static u64 out_of_slot(const struct dh_chase_target *t, u64 pc)
{
    for (int i = 0; i < DH_CONTROL_REGIONS; i++) {
        u64 slot = (pc - 1 - t->regions[i]) / DH_CONTROL_SLOT;
        const struct dh_control_site *site = &t->control->sites[slot % DH_CONTROL_SITES];
        if (t->regions[i] && slot < t->control->n_sites && site->out_of_line < pc &&
            pc <= site->out_of_line + site->length)
            return site->pc + site->length;
    }
    return pc;
}

static void copy_thread(struct dh_chase_moment *m, int i, const struct dh_chase_target *t,
                        const struct dh_control_access *access)
{
    struct thread *th = &m->threads[i];
    th->access = *access;
    th->access.registers[16] = out_of_slot(t, access->registers[16]);
    if (access->site < DH_CONTROL_SITES)
        m->sites[i] = t->control->sites[access->site];
    th->site = &m->sites[i];
    th->uid = uid_of(t->pid, access->tid, t->control->first.tid);
    read_name(t->pid, access->tid, th->name, sizeof(th->name));
    th->bottom = access->registers[RSP] - RED_ZONE;
    th->stack = dh_arena_alloc(&m->arena, STACK_BYTES);
    ssize_t n = pread(t->mem, th->stack, STACK_BYTES, (off_t)th->bottom);
    th->n = n > 0 ? (size_t)n : 0;
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_linux_proc_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
};

static void copy_code(struct dh_chase_moment *m, const struct dh_chase_target *t, u64 pc)
{
    m->code_at = pc - CODE_BYTES;
    m->code = dh_arena_alloc(&m->arena, CODE_BYTES + DH_CHASE_CODE_MAX);
    ssize_t n = pread(t->mem, m->code, CODE_BYTES + DH_CHASE_CODE_MAX, (off_t)m->code_at);
    if (n <= 0) { /* there may be no code that far back */
        m->code_at = DH_ALIGN_DOWN(pc, 4096);
        n = pread(t->mem, m->code, pc - m->code_at + DH_CHASE_CODE_MAX, (off_t)m->code_at);
    }
    m->code_n = n > 0 ? (size_t)n : 0;
}

/* Only the text: opening the files takes long, and while the two wait another thread may end the program. */
static void copy_maps(struct dh_chase_moment *m, const struct dh_chase_target *t)
{
    m->maps = dh_chase_target_maps(m->pid, &m->n_maps);
    if (m->maps || !t->maps)
        return;
    m->n_maps = t->n_maps;
    m->maps = dh_util_alloc(m->n_maps);
    memcpy(m->maps, t->maps, m->n_maps);
}

static void find_modules(struct dh_chase_moment *m)
{
    FILE *f = m->n_maps ? fmemopen(m->maps, m->n_maps, "r") : NULL;
    m->dwfl = f ? dwfl_begin(&callbacks) : NULL;
    if (m->dwfl &&
        (dwfl_linux_proc_maps_report(m->dwfl, f) != 0 || dwfl_report_end(m->dwfl, NULL, NULL) != 0)) {
        dwfl_end(m->dwfl);
        m->dwfl = NULL;
    }
    if (f)
        fclose(f);
}

struct dh_chase_moment *dh_chase_moment_begin(const struct dh_chase_target *t, bool swapped)
{
    struct dh_chase_moment *m = calloc(1, sizeof(*m));
    if (!m)
        dh_util_no_memory();
    m->pid = t->pid;
    m->waited = swapped ? 0 : 1;
    copy_thread(m, m->waited, t, &t->control->first);
    const struct dh_chase_site *site = t->sites[t->control->first.site % DH_CONTROL_SITES];
    m->file = site->module->file;
    m->bias = m->sites[m->waited].pc - site->access->address;
    return m;
}

/* Threads that no longer waited may have left the frames that were copied. Their position is known all the
 * same. */
static void drop_stacks(struct dh_chase_moment *m, u32 gone)
{
    if (gone & DH_CONTROL_GONE_FIRST)
        m->threads[m->waited].n = 0;
    if (gone & DH_CONTROL_GONE_SECOND)
        m->threads[1 - m->waited].n = 0;
}

void dh_chase_moment_meet(struct dh_chase_moment *m, const struct dh_chase_target *t, bool changed)
{
    struct thread *first = &m->threads[m->waited];
    m->delay_us = t->control->delay_us;
    first->access.met = t->control->first.met;
    first->uid = uid_of(t->pid, first->access.tid, first->access.tid);
    copy_thread(m, 1 - m->waited, t, &t->control->second);
    m->changed = changed;
    drop_stacks(m, dh_chase_target_gone(t));
    if (t->control->second.site == DH_CONTROL_NOWHERE)
        copy_code(m, t, m->threads[1 - m->waited].access.registers[16]);
    copy_maps(m, t);
}

struct dh_chase_moment *dh_chase_moment_new(const struct dh_chase_target *t, bool changed, bool swapped)
{
    struct dh_chase_moment *m = dh_chase_moment_begin(t, swapped);
    dh_chase_moment_meet(m, t, changed);
    return m;
}

void dh_chase_moment_free(struct dh_chase_moment *m)
{
    if (!m)
        return;
    if (m->dwfl)
        dwfl_end(m->dwfl);
    dh_arena_done(&m->arena);
    free(m->maps);
    free(m);
}

/* ---- Unwinding ---- */

static pid_t next_thread(Dwfl *dwfl, void *ctx, void **at)
{
    (void)dwfl;
    struct dh_chase_moment *m = ctx;
    struct thread *next = *at ? (struct thread *)*at + 1 : m->threads;
    if (next == m->threads + 2)
        return 0;
    *at = next;
    return (pid_t)next->access.tid;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *ret, void *ctx)
{
    (void)dwfl;
    const struct dh_chase_moment *m = ctx;
    for (int i = 0; i < 2; i++) {
        const struct thread *t = &m->threads[i];
        if (t->n >= sizeof(*ret) && addr - t->bottom <= t->n - sizeof(*ret)) {
            memcpy(ret, t->stack + (addr - t->bottom), sizeof(*ret));
            return true;
        }
    }
    return false;
}

static bool set_registers(Dwfl_Thread *thread, void *ctx)
{
    /* Machine-code register numbers, indexed by DWARF register numbers. */
    static const u8 order[17] = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    const struct thread *t = ctx;
    Dwarf_Word values[17];
    for (int i = 0; i < 17; i++)
        values[i] = t->access.registers[order[i]];
    return dwfl_thread_state_registers(thread, 0, 17, values);
}

struct walk {
    const struct thread *thread;
    u64 pcs[DH_CHASE_MOMENT_FRAMES];
    size_t n;
};

static int add_frame(Dwfl_Frame *state, void *ctx)
{
    struct walk *w = ctx;
    Dwarf_Addr pc;
    bool exact;
    if (w->n == DH_CHASE_MOMENT_FRAMES || !dwfl_frame_pc(state, &pc, &exact))
        return DWARF_CB_ABORT;
    if (w->n == 0)
        pc += w->thread->site->length;
    else if (exact)
        pc++;
    w->pcs[w->n++] = pc;
    return DWARF_CB_OK;
}

/* ---- What hit a watchpoint ---- */

/* Where the unwind table row before pc begins, which is also the beginning of an instruction. 0: not
 * known. */
static u64 row_before(struct dh_chase_moment *m, u64 pc)
{
    Dwarf_Addr bias, start = 0, end;
    Dwarf_Frame *frame;
    Dwfl_Module *module = m->dwfl ? dwfl_addrmodule(m->dwfl, pc) : NULL;
    Dwarf_CFI *cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
    if (!cfi || dwarf_cfi_addrframe(cfi, pc - bias, &frame) != 0)
        return 0;
    dwarf_frame_info(frame, &start, &end, NULL);
    free(frame);
    return start ? start + bias : 0;
}

static bool read_at(const struct dh_chase_moment *m, u64 pc, struct dh_chase_code *ret)
{
    return pc - m->code_at < m->code_n &&
           dh_chase_code_read(m->code + (pc - m->code_at), m->code_n - (pc - m->code_at), false, ret) == 0;
}

/* The instruction that ends at pc; or the one at pc, if it is a repeated one that was interrupted. */
static bool find_executed(struct dh_chase_moment *m, u64 pc, struct dh_chase_code *ret)
{
    struct dh_chase_code here;
    u64 at = row_before(m, pc - 1);
    while (at && at < pc && read_at(m, at, ret)) {
        at += ret->length;
        if (at == pc && ret->kind != DH_CHASE_CODE_NONE)
            return true;
    }
    bool repeats = read_at(m, pc, &here) && here.n_operands && here.operands[0].flags;
    if (repeats)
        *ret = here;
    return repeats;
}

/* The kind and size of the access, as far as they can be known; its address is the watched one. */
static void describe_watched(struct dh_chase_moment *m)
{
    struct dh_control_access *second = &m->threads[0].access;
    const struct dh_control_access *first = &m->threads[1].access;
    struct dh_control_span *span = &second->spans[0];
    struct dh_chase_code code;
    *span = (struct dh_control_span){first->spans[0].address, first->spans[0].size,
                                     m->changed ? DH_CONTROL_WRITE : DH_CONTROL_READ};
    if (!find_executed(m, second->registers[16], &code))
        return;
    if (dh_chase_lines_is_field(m->file))
        dh_chase_lines_tell_atomic(m->file, second->registers[16] - code.length - m->bias, &code);
    m->sites[0].atomic = code.atomic;
    m->sites[0].plain = code.plain;
    if (!code.n_operands && code.kinds)
        span->kind = code.kinds;
    for (u8 i = 0; i < code.n_operands; i++) {
        const struct dh_control_operand *o = &code.operands[i];
        if (code.n_operands > 1 && !(o->kind & span->kind))
            continue;
        span->kind = o->kind;
        span->size = o->size;
        return;
    }
}

/* ---- Writing the record ---- */

struct telling {
    struct dh_chase_moment *m;
    struct dh_chase_stream *stream;
};

static void tell(struct telling *to, const char *type, json_t *body)
{
    json_t *all = json_pack("{s:i, s:s, s:s, s:i}", "v", 2, "type", type, "process", to->stream->process,
                            "pid", (int)to->m->pid);
    json_object_update(all, body);
    char *text = json_dumps(all, JSON_COMPACT);
    if (!text)
        dh_util_no_memory();
    to->stream->line(to->stream->ctx, text, strlen(text));
    free(text);
    json_decref(all);
    json_decref(body);
}

static json_t *hex(u64 value)
{
    return json_sprintf("0x%" PRIx64, value);
}

static json_t *build_id_of(Dwfl_Module *module)
{
    const unsigned char *bits;
    GElf_Addr addr;
    char text[129] = "";
    int n = dwfl_module_build_id(module, &bits, &addr);
    for (int i = 0; i < n && i < 64; i++)
        snprintf(text + 2 * i, 3, "%02x", bits[i]);
    return json_string(text);
}

/* The difference between addresses in memory and in its file. */
static u64 bias_of(Dwfl_Module *module)
{
    GElf_Addr bias = 0;
    return dwfl_module_getelf(module, &bias) ? bias : 0;
}

/* The number of a module, which is written out the first time. */
static int announce(struct telling *to, Dwfl_Module *module)
{
    void **number;
    Dwarf_Addr lo, hi;
    const char *file = NULL;
    const char *name = dwfl_module_info(module, &number, &lo, &hi, NULL, NULL, &file, NULL);
    u64 bias = bias_of(module);
    if (*number)
        return (int)(intptr_t)*number - 1;
    int id = to->stream->modules++;
    *number = (void *)(intptr_t)(id + 1);
    tell(to, "module",
         json_pack("{s:i, s:s, s:o, s:o, s:o, s:o}", "id", id, "path",
                   name && name[0] == '/' ? name
                   : file                 ? file
                                          : "",
                   "build_id", build_id_of(module), "lo", hex(lo), "hi", hex(hi), "bias", hex(bias)));
    return id;
}

static json_t *frame(struct telling *to, u64 pc)
{
    Dwfl_Module *module = to->m->dwfl ? dwfl_addrmodule(to->m->dwfl, pc - 1) : NULL;
    if (!module)
        return json_pack("[i, o]", -1, hex(pc));
    int id = announce(to, module);
    return json_pack("[i, o]", id, hex(pc - bias_of(module)));
}

/* A thread's frames; at least the one of the access. */
static struct walk walk_of(const struct dh_chase_moment *m, const struct thread *t)
{
    struct walk w = {.thread = t};
    if (m->dwfl)
        dwfl_getthread_frames(m->dwfl, (pid_t)t->access.tid, add_frame, &w);
    if (w.n == 0)
        w.pcs[w.n++] = t->access.registers[16] + t->site->length;
    return w;
}

static json_t *stack(struct telling *to, const struct thread *t)
{
    struct walk w = walk_of(to->m, t);
    json_t *list = json_array();
    for (size_t i = 0; i < w.n; i++)
        json_array_append_new(list, frame(to, w.pcs[i]));
    return list;
}

/* The part of its access that conflicts with the other's. */
static const struct dh_control_span *met_span(const struct thread *t)
{
    return &t->access.spans[t->access.met % DH_CONTROL_OPERANDS];
}

static json_t *access_of(struct telling *to, const struct thread *t)
{
    const struct dh_control_span *span = met_span(t);
    return json_pack("{s:s, s:b, s:b, s:o, s:I, s:I, s:o, s:b}", "kind",
                     span->kind & DH_CONTROL_WRITE ? "write" : "read", "atomic", t->site->atomic, "range",
                     t->site->operands[0].flags & DH_CONTROL_REPEAT, "addr", hex(span->address), "size",
                     (json_int_t)span->size, "thread", (json_int_t)t->uid, "stack", stack(to, t),
                     "stack_folded", 0);
}

struct holding {
    u64 addr;
    Dwfl_Module *module;
};

/* Is the address in a segment of this module, .bss included? */
static int holds(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr start, void *ctx)
{
    (void)data, (void)name, (void)start;
    struct holding *h = ctx;
    GElf_Addr bias;
    size_t n;
    Elf *elf = dwfl_module_getelf(module, &bias);
    if (!elf || elf_getphdrnum(elf, &n) != 0)
        return DWARF_CB_OK;
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr p;
        if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD &&
            h->addr - (p.p_vaddr + bias) < p.p_memsz) {
            h->module = module;
            return DWARF_CB_ABORT;
        }
    }
    return DWARF_CB_OK;
}

static Dwfl_Module *module_with(const struct dh_chase_moment *m, u64 addr)
{
    struct holding h = {addr, NULL};
    if (m->dwfl)
        dwfl_getmodules(m->dwfl, holds, &h, 0);
    return h.module;
}

static json_t *location(struct telling *to, u64 addr)
{
    struct dh_chase_moment *m = to->m;
    Dwfl_Module *module = module_with(m, addr);
    if (module) {
        int id = announce(to, module);
        return json_pack("{s:s, s:i, s:o}", "kind", "global", "module", id, "offset",
                         hex(addr - bias_of(module)));
    }
    for (int i = 0; i < 2; i++) {
        const struct thread *t = &m->threads[i];
        if (addr - t->bottom < t->n)
            return json_pack("{s:s, s:I, s:i}", "kind", "stack", "thread", (json_int_t)t->uid,
                             "offset_from_top", 0);
    }
    return json_pack("{s:s}", "kind", "unknown");
}

/* Is the variable on which they met declared atomic? */
static bool is_declared_atomic(const struct dh_chase_moment *m, const struct dh_control_span *span)
{
    Dwarf_Addr bias;
    struct dh_chase_globals globals;
    Dwfl_Module *module = module_with(m, span->address);
    Dwarf *dwarf = module ? dwfl_module_getdwarf(module, &bias) : NULL;
    if (!dwarf)
        return false;
    dh_chase_atomic_read(&globals, dwarf);
    bool atomic = dh_chase_atomic_is_global(&globals, span->address - bias, span->size);
    dh_chase_atomic_done(&globals);
    return atomic;
}

/* Are both accesses atomic, as far as can be known? */
static bool are_atomic(const struct dh_chase_moment *m, const struct dh_control_span *span)
{
    const struct dh_control_site *a = &m->sites[0], *b = &m->sites[1];
    if (a->plain || b->plain)
        return false;
    return (a->atomic && b->atomic) || is_declared_atomic(m, span);
}

/* Work that takes too long to be done while the threads wait. */
static void prepare(struct dh_chase_moment *m)
{
    static const Dwfl_Thread_Callbacks threads = {
        .next_thread = next_thread, .memory_read = read_memory, .set_initial_registers = set_registers};
    if (m->prepared)
        return;
    m->prepared = true;
    find_modules(m);
    if (m->threads[1 - m->waited].access.site == DH_CONTROL_NOWHERE)
        describe_watched(m);
    if (m->dwfl)
        dwfl_attach_state(m->dwfl, NULL, m->pid, &threads, m);
}

bool dh_chase_moment_tell(struct dh_chase_moment *m, struct dh_chase_stream *stream)
{
    struct telling to = {m, stream};
    const struct dh_control_access *first = &m->threads[m->waited].access;
    const struct dh_control_access *second = &m->threads[1 - m->waited].access;
    prepare(m);
    const struct dh_control_span *span = met_span(&m->threads[1 - m->waited]);
    if (are_atomic(m, span))
        return false;
    for (int i = 0; i < 2; i++)
        tell(&to, "thread",
             json_pack("{s:I, s:s, s:i}", "uid", (json_int_t)m->threads[i].uid, "name", m->threads[i].name,
                       "tid", (int)m->threads[i].access.tid));
    json_t *accesses = json_array();
    for (int i = 0; i < 2; i++)
        json_array_append_new(accesses, access_of(&to, &m->threads[i]));
    json_t *place = location(&to, span->address);
    json_t *race =
        json_pack("{s:i, s:o, s:o, s:s, s:s*, s:{s:I, s:I}}", "id", ++stream->races, "accesses", accesses,
                  "location", place, "provenance", "confirmed", "order", stream->order, "wait", "after_us",
                  (json_int_t)(second->time_us - first->time_us), "delay_us", (json_int_t)m->delay_us);
    if (!m->sites[0].plain && !m->sites[1].plain)
        json_object_set_new(race, "atomics", json_string("unknown"));
    if (stream->analysis)
        json_object_set_new(race, "analysis", json_string(stream->analysis));
    if (stream->consequence)
        json_object_set_new(race, "consequence", json_string(stream->consequence));
    if (stream->detail)
        json_object_set_new(race, "detail", json_string(stream->detail));
    tell(&to, "race", race);
    return true;
}

/* ---- Places ---- */

/* Is it in one of the modules? Then ret gets its line, if it has one. */
static bool find_line(struct dh_chase_moment *m, u64 pc, const struct dh_chase_module *modules, size_t n,
                      struct dh_chase_place *ret)
{
    struct dh_chase_spot spot;
    Dwfl_Module *module = dwfl_addrmodule(m->dwfl, pc);
    const char *name = module ? dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL) : "";
    for (size_t i = 0; i < n; i++) {
        if (strcmp(name, modules[i].path) != 0)
            continue;
        if (dh_chase_lines_line(modules[i].file, pc - bias_of(module), &spot)) {
            ret->file = spot.file;
            ret->line = spot.line;
            ret->column = spot.column;
        }
        return true;
    }
    return false;
}

/* A thread that no longer waits has left its stack, so only the instruction itself is certain. Code merged by
 * the compiler has no line, and the line of the call that led there is not that of the access. */
static struct dh_chase_place place_of(struct dh_chase_moment *m, const struct thread *t,
                                      const struct dh_chase_module *modules, size_t n)
{
    struct dh_chase_place p = {.kinds = (u8)met_span(t)->kind, .plain = t->site->plain};
    struct walk w = {.thread = t};
    if (m->dwfl && t == &m->threads[1 - m->waited])
        dwfl_getthread_frames(m->dwfl, (pid_t)t->access.tid, add_frame, &w);
    if (w.n == 0)
        w.pcs[w.n++] = t->access.registers[16] + t->site->length;
    bool found = false;
    for (size_t i = 0; i < w.n && m->dwfl && !found; i++) {
        found = find_line(m, w.pcs[i] - 1, modules, n, &p);
        p.outside = i > 0;
    }
    return p;
}

bool dh_chase_moment_places(struct dh_chase_moment *m, const struct dh_chase_module *modules, size_t n,
                            struct dh_chase_place ret[2])
{
    const struct thread *first = &m->threads[m->waited], *second = &m->threads[1 - m->waited];
    prepare(m);
    if (are_atomic(m, met_span(second)))
        return false;
    ret[0] = place_of(m, first, modules, n);
    ret[1] = place_of(m, second, modules, n);
    return true;
}

void dh_chase_moment_tids(const struct dh_chase_moment *m, u32 ret[2])
{
    ret[0] = m->threads[m->waited].access.tid;
    ret[1] = m->threads[1 - m->waited].access.tid;
}

size_t dh_chase_moment_offsets(struct dh_chase_moment *m, bool waited, u64 *ret, size_t most)
{
    const struct thread *t = &m->threads[waited ? m->waited : 1 - m->waited];
    size_t n = 0, last = 0;
    prepare(m);
    struct walk w = walk_of(m, t);
    Dwfl_Module *own = m->dwfl ? dwfl_addrmodule(m->dwfl, m->sites[m->waited].pc) : NULL;
    for (size_t i = 0; i < w.n && n < most; i++) {
        bool inside = own && dwfl_addrmodule(m->dwfl, w.pcs[i] - 1) == own;
        if (!inside && n && !ret[n - 1])
            continue;
        ret[n++] = inside ? w.pcs[i] - m->bias : 0;
        last = inside ? n : last;
    }
    return last;
}
