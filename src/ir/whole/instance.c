/*
 * instance.c - instances of functions, threads, and the call graph while the solver finds it.
 *
 * An instance is identified by (function, root) and, if the function is one of those that are cloned
 * (clone.c), also by the calling instance and the call. A root is identified by the creating instance, the
 * call and the entry function; a thread that creates threads like itself has one root for all generations.
 */
#include <string.h>

#include "ir/whole/model.h"

enum {
    /* Clones called by clones called by ...: unoptimised C++ gets at what a unique_ptr holds through ten
       functions. */
    CLONE_DEPTH = 12,
    LARGE_CLONE_DEPTH = 1, /* wrappers only ... */
    LARGE_CLONE_OPS = 40,  /* ... and short ones */
    /* No more clones beyond this size of all instances, and this many times that of the program. */
    MAX_INSTANCE_OPS = 4 * 1000 * 1000,
    MAX_TIMES = 24,
    SMALL_INSTANCE_OPS = 20 * 1000
};

static bool has_room_for_clones(const struct dh_w *w)
{
    u64 most = SMALL_INSTANCE_OPS + MAX_TIMES * w->program_ops;
    return w->instance_ops < (most < MAX_INSTANCE_OPS ? most : MAX_INSTANCE_OPS);
}

static void push_object(struct dh_w *w, struct dh_w_object object)
{
    w->objects = dh_util_grow(w->objects, w->n_objects, &w->cap_objects, sizeof *w->objects);
    w->objects[w->n_objects++] = object;
}

u32 dh_w_object_add(struct dh_w *w, struct dh_w_object object, u32 size, unsigned flags)
{
    dh_pts_object o = dh_pts_object_add(w->pts, size, flags);
    if (o == DH_PTS_NONE)
        dh_util_no_memory();
    /* The solver has objects of its own in between, which no set contains. */
    while (w->n_objects < o)
        push_object(w, (struct dh_w_object){.kind = DH_W_HIDDEN, .inst = DH_W_NONE, .root = DH_W_NONE});
    push_object(w, object);
    return o;
}

dh_pts_node dh_w_node(const struct dh_w *w, u32 inst, dh_w_value v)
{
    if (v == DH_W_NONE)
        return DH_PTS_NONE;
    if (v & DH_W_CONSTANT)
        return w->constants[v & ~DH_W_CONSTANT].node;
    const struct dh_w_fn *f = &w->fns[w->insts[inst].fn];
    u32 as = f->as == NULL ? 0 : f->as[v];
    return w->insts[inst].node[as == 0 ? v : f->locals + as - 1];
}

/* Whether an instance is a clone called by a clone ... of this function: calls through pointers that are not
 * told apart would make clones of every way through them. */
static bool is_called_by(const struct dh_w *w, u32 inst, u32 fn)
{
    while (inst != DH_W_NONE && w->insts[inst].fn != fn)
        inst = w->insts[inst].caller;
    return inst != DH_W_NONE;
}

u32 dh_w_instance(struct dh_w *w, u32 fn, u32 root, u32 caller, u32 op)
{
    bool wanted = w->large ? w->fns[fn].fresh && w->fns[fn].n_ops <= LARGE_CLONE_OPS : w->fns[fn].clone;
    u32 depth = w->large ? LARGE_CLONE_DEPTH : CLONE_DEPTH;
    bool clone = caller != DH_W_NONE && wanted && w->insts[caller].depth < depth && has_room_for_clones(w) &&
                 !is_called_by(w, caller, fn);
    if (!clone)
        caller = op = DH_W_NONE;
    struct dh_w_key key = DH_W_KEY(fn, root, caller, op);
    u32 found = dh_w_table_get(&w->inst_of, key);
    if (found != DH_W_TABLE_NONE)
        return found;
    u32 n = (u32)w->n_insts;
    dh_w_table_put(&w->inst_of, key, n);
    struct dh_w_inst inst = {.fn = fn, .root = root, .caller = caller, .call_op = op};
    inst.depth = clone ? w->insts[caller].depth + 1 : 0;
    const struct dh_w_fn *f = &w->fns[fn];
    inst.node = dh_arena_array(&w->arena, f->locals + f->n_typed + 1, sizeof *inst.node);
    for (u32 i = 0; i < f->locals; i++)
        inst.node[i] = dh_pts_value(w->pts);
    w->insts = dh_util_grow(w->insts, w->n_insts, &w->cap_insts, sizeof *w->insts);
    w->insts[w->n_insts++] = inst;
    dh_w_typed_begin(w, n);
    w->work = dh_util_grow(w->work, w->n_work, &w->cap_work, sizeof *w->work);
    w->work[w->n_work++] = n;
    w->instance_ops += f->n_ops;
    return n;
}

static void add_edge(struct dh_w *w, u32 caller, u32 op, u32 callee, bool late)
{
    struct dh_w_inst *i = &w->insts[caller];
    i->edges = dh_util_grow(i->edges, i->n_edges, &i->cap_edges, sizeof *i->edges);
    i->edges[i->n_edges++] = (struct dh_w_edge){op, callee, late};
}

void dh_w_bind(struct dh_w *w, u32 caller, u32 op, u32 callee)
{
    const struct dh_w_fn *from = &w->fns[w->insts[caller].fn], *to = &w->fns[w->insts[callee].fn];
    const struct dh_w_op *o = &from->ops[op];
    const struct dh_w_call *c = &from->calls[o->call];
    for (u32 i = 0; i < c->n; i++) {
        dh_w_value formal = i < to->args ? i : to->var;
        if (formal != DH_W_NONE)
            dh_pts_copy(w->pts, w->insts[callee].node[formal], dh_w_node(w, caller, c->args[i]));
    }
    if (o->dst != DH_W_NONE && to->ret != DH_W_NONE && o->kind == DH_W_CALL)
        dh_pts_copy(w->pts, w->insts[caller].node[o->dst], w->insts[callee].node[to->ret]);
    add_edge(w, caller, op, callee, o->kind == DH_W_LATE);
}

/* ---- roots ---- */

static u32 add_root(struct dh_w *w, struct dh_w_root root)
{
    u32 n = (u32)w->n_roots;
    w->roots = dh_util_grow(w->roots, w->n_roots, &w->cap_roots, sizeof *w->roots);
    root.result = dh_pts_value(w->pts);
    root.kept = dh_pts_value(w->pts);
    root.handle = dh_w_object_add(
        w, (struct dh_w_object){.kind = DH_W_THREAD, .number = n, .inst = DH_W_NONE, .root = DH_W_NONE}, 1,
        0);
    dh_pts_copy(w->pts, w->kept, root.kept);
    root.inst = DH_W_NONE;
    w->roots[w->n_roots++] = root;
    if (root.fn != DH_W_NONE) {
        u32 inst = dh_w_instance(w, root.fn, n, DH_W_NONE, DH_W_NONE);
        w->roots[n].inst = inst;
        if (w->fns[root.fn].ret != DH_W_NONE)
            dh_pts_copy(w->pts, root.result, w->insts[inst].node[w->fns[root.fn].ret]);
    }
    return n;
}

/* A root that may stand for one more place of creation: in large programs, the one of all threads; always,
 * the one of all that unknown code calls. */
static u32 shared_root(const struct dh_w *w, u8 kind, bool unknown, u32 fn)
{
    for (u32 n = 1; n < w->n_roots && (w->large || unknown); n++)
        if (w->roots[n].kind == kind && w->roots[n].unknown == unknown)
            return n;
    if (w->n_roots < DH_W_MAX_ROOTS)
        return DH_W_NONE;
    for (u32 n = 1; n < w->n_roots; n++)
        if (w->roots[n].fn == fn)
            return n;
    return DH_W_MAX_ROOTS - 1;
}

static u32 root_for(struct dh_w *w, u32 creator, u32 op, u32 fn)
{
    const struct dh_w_inst *i = &w->insts[creator];
    const struct dh_w_op *o = &w->fns[i->fn].ops[op];
    bool cloned = i->caller != DH_W_NONE;
    LLVMValueRef called_at = cloned ? w->fns[w->insts[i->caller].fn].ops[i->call_op].inst : NULL;
    bool unknown = o->kind == DH_W_OUTSIDER && (o->flags & DH_W_UNKNOWN);
    struct dh_w_key key =
        unknown ? DH_W_KEY(0, 0, fn) : DH_W_KEY((u64)(uptr)o->inst, (u64)(uptr)called_at, fn);
    u32 n = dh_w_table_get(&w->root_of, key);
    if (n != DH_W_TABLE_NONE)
        return n;
    u8 kind = o->kind == DH_W_FORK     ? DH_PAIRS_THREAD
              : o->kind == DH_W_SIGNAL ? DH_PAIRS_SIGNAL
                                       : DH_PAIRS_OUTSIDER;
    n = shared_root(w, kind, unknown, fn);
    if (n != DH_W_NONE) {
        w->roots[n].many = true;
        w->sharers = dh_util_grow(w->sharers, w->n_sharers, &w->cap_sharers, sizeof *w->sharers);
        w->sharers[w->n_sharers++] = (struct dh_w_sharer){n, fn, creator, op};
    } else {
        size_t len;
        n = add_root(w, (struct dh_w_root){.kind = kind,
                                           .many = kind == DH_PAIRS_OUTSIDER || (o->flags & DH_W_OFTEN),
                                           .often = unknown || (o->flags & DH_W_OFTEN),
                                           .unknown = unknown,
                                           .fn = fn,
                                           .creator = creator,
                                           .op = op,
                                           .site = o->inst,
                                           .api = LLVMGetValueName2(LLVMGetCalledValue(o->inst), &len)});
    }
    dh_w_table_put(&w->root_of, key, n);
    return n;
}

/* What the function that a thread begins with is given. */
static void give_arguments(struct dh_w *w, u32 creator, const struct dh_w_op *o, u32 entry)
{
    const struct dh_w_inst *to = &w->insts[entry];
    u32 args = w->fns[to->fn].args;
    dh_w_value arg = w->fns[w->insts[creator].fn].calls[o->call].args[0];
    if (o->kind == DH_W_SIGNAL) {
        if (args > 1) /* siginfo_t, with the value that came with the signal */
            dh_pts_address(w->pts, to->node[1], dh_w_channel(w), DH_PTS_ANY);
    } else if (o->flags & DH_W_UNKNOWN) {
        for (u32 i = 0; i < args; i++)
            dh_pts_copy(w->pts, to->node[i], w->given);
    } else if (args > 0) {
        dh_pts_copy(w->pts, to->node[0], arg == DH_W_NONE ? w->kept : dh_w_node(w, creator, arg));
    }
}

static void start_thread(struct dh_w *w, u32 creator, u32 op, u32 fn)
{
    u32 root = root_for(w, creator, op, fn);
    u32 entry = dh_w_instance(w, fn, root, DH_W_NONE, DH_W_NONE);
    struct dh_w_inst *i = &w->insts[creator];
    i->forks = dh_util_grow(i->forks, i->n_forks, &i->cap_forks, sizeof *i->forks);
    i->forks[i->n_forks++] = (struct dh_w_fork){op, root, entry};
    const struct dh_w_fn *f = &w->fns[i->fn];
    const struct dh_w_op *o = &f->ops[op];
    give_arguments(w, creator, o, entry);
    if (o->a != DH_W_NONE) {
        dh_pts_node handle = dh_pts_value(w->pts);
        dh_pts_address(w->pts, handle, w->roots[root].handle, 0);
        dh_pts_store(w->pts, dh_w_node(w, creator, o->a), 0, handle);
    }
}

/* ---- solving ---- */

static void drain(struct dh_w *w)
{
    while (w->n_work > 0) {
        u32 inst = w->work[--w->n_work];
        if (!w->insts[inst].live) {
            w->insts[inst].live = true;
            dh_w_constrain(w, inst);
        }
    }
}

/* What a value of this type can be passed as. */
static u32 passed_as(LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMPointerTypeKind:
        return 0;
    case LLVMIntegerTypeKind:
        return 1;
    case LLVMVoidTypeKind:
        return 2;
    default:
        return 3;
    }
}

/*
 * Whether a call of this type can be meant for a function of that type: as many arguments, of the same kinds.
 * The standard demands more (compatible types); programs get away with less only where an argument too many
 * is ignored, which is counted as an assumption.
 */
static bool is_meant_for(LLVMTypeRef call, LLVMTypeRef fn)
{
    LLVMTypeRef given[64], wanted[64];
    unsigned n = LLVMCountParamTypes(call), m = LLVMCountParamTypes(fn);
    if (call == fn || LLVMIsFunctionVarArg(call) || n > DH_ARRAY_LEN(given) || m > DH_ARRAY_LEN(wanted))
        return true;
    if (n < m || (n > m && !LLVMIsFunctionVarArg(fn)))
        return false;
    LLVMGetParamTypes(call, given);
    LLVMGetParamTypes(fn, wanted);
    for (unsigned i = 0; i < m; i++)
        if (passed_as(given[i]) != passed_as(wanted[i]))
            return false;
    u32 want = passed_as(LLVMGetReturnType(call)), get = passed_as(LLVMGetReturnType(fn));
    return want != 0 || get <= 1;
}

/* An event arrived where its base is polled: its function is called with its own argument, not with that of
 * any other event. */
static void poll(struct dh_w *w, const u32 *at, dh_pts_object object, uint32_t offset)
{
    dh_pts_node event = dh_pts_value(w->pts), function = dh_pts_value(w->pts);
    u32 *call = dh_arena_array(&w->arena, 3, sizeof *call);
    call[0] = at[0];
    call[1] = at[1];
    call[2] = dh_pts_value(w->pts);
    dh_pts_address(w->pts, event, object, offset);
    dh_pts_load(w->pts, function, event, DH_W_EVENT_FUNCTION);
    dh_pts_load(w->pts, call[2], event, DH_W_EVENT_ARGUMENT);
    dh_pts_call(w->pts, function, call);
}

/* A function arrived where it is called, or a thread's handle where it is joined. call: instance and op, and,
 * of events, what is handed over. */
void dh_w_on_flow(void *client, void *call, dh_pts_object object, uint32_t offset)
{
    struct dh_w *w = client;
    const u32 *at = call;
    u32 inst = at[0], op = at[1];
    if (op == DH_W_NONE) {
        dh_w_typed_flow(w, at, object, offset);
        return;
    }
    const struct dh_w_op *o = &w->fns[w->insts[inst].fn].ops[op];
    const struct dh_w_object *target = &w->objects[object];
    (void)offset;
    if (o->kind == DH_W_JOIN || o->kind == DH_W_RESULT) {
        if (target->kind == DH_W_THREAD)
            dh_pts_store(w->pts, dh_w_node(w, inst, o->b), 0, w->roots[target->number].result);
        return;
    }
    if ((o->flags & DH_W_POLLS) && at[2] == DH_PTS_NONE) {
        if (target->kind != DH_W_CODE)
            poll(w, at, object, offset);
        return;
    }
    u32 fn = target->number;
    if (target->kind != DH_W_CODE)
        return;
    if (o->kind == DH_W_CALL &&
        !is_meant_for(LLVMGetCalledFunctionType(o->inst), LLVMGlobalGetValueType(w->fns[fn].value))) {
        dh_w_assume(w, DH_W_ASSUME_CALLS, 1, o->inst);
        return;
    }
    if (!w->fns[fn].defined) {
        dh_w_assume(w, DH_W_ASSUME_EXTERNAL, 1, o->inst);
        return;
    }
    if (o->kind == DH_W_FORK || o->kind == DH_W_SIGNAL || o->kind == DH_W_OUTSIDER)
        start_thread(w, inst, op, fn);
    else
        dh_w_bind(w, inst, op, dh_w_instance(w, fn, w->insts[inst].root, inst, op));
    if ((o->flags & DH_W_POLLS) && w->fns[fn].args > 2)
        dh_pts_copy(w->pts, w->insts[dh_w_instance(w, fn, w->insts[inst].root, inst, op)].node[2], at[2]);
    drain(w);
}

static void add_early(struct dh_w *w, u32 fn)
{
    w->early = dh_util_grow(w->early, w->n_early, &w->cap_early, sizeof *w->early);
    w->early[w->n_early++] = dh_w_instance(w, fn, 0, DH_W_NONE, DH_W_NONE);
}

static void add_last(struct dh_w *w, u32 fn)
{
    w->last = dh_util_grow(w->last, w->n_last, &w->cap_last, sizeof *w->last);
    w->last[w->n_last++] = dh_w_instance(w, fn, 0, DH_W_NONE, DH_W_NONE);
}

/* Constructors or destructors, of C++ and of attributes. */
static void add_listed(struct dh_w *w, const char *name, void (*add)(struct dh_w *w, u32 fn))
{
    LLVMValueRef list = LLVMGetNamedGlobal(w->module, name);
    LLVMValueRef init = list == NULL ? NULL : LLVMGetInitializer(list);
    for (int i = 0; init != NULL && LLVMIsAConstantArray(init) != NULL && i < LLVMGetNumOperands(init); i++) {
        LLVMValueRef f = LLVMGetOperand(LLVMGetOperand(init, (unsigned)i), 1);
        u32 fn = dh_w_table_get(&w->fn_of, DH_W_KEY((u64)(uptr)f));
        if (fn != DH_W_TABLE_NONE && w->fns[fn].defined)
            add(w, fn);
    }
}

/* The same without the compiler's help: functions in the sections that the dynamic linker and the C library
 * call. */
static void add_section(struct dh_w *w, const char *prefix, void (*add)(struct dh_w *w, u32 fn))
{
    for (LLVMValueRef g = LLVMGetFirstGlobal(w->module); g != NULL; g = LLVMGetNextGlobal(g)) {
        const char *section = LLVMGetSection(g);
        LLVMValueRef init = LLVMGetInitializer(g);
        if (section == NULL || init == NULL || strncmp(section, prefix, strlen(prefix)) != 0)
            continue;
        bool array = LLVMIsAConstantArray(init) != NULL;
        for (int i = 0; i < (array ? LLVMGetNumOperands(init) : 1); i++) {
            LLVMValueRef f = array ? LLVMGetOperand(init, (unsigned)i) : init;
            u32 fn = dh_w_table_get(&w->fn_of, DH_W_KEY((u64)(uptr)f));
            if (fn != DH_W_TABLE_NONE && w->fns[fn].defined)
                add(w, fn);
        }
    }
}

/* main's arguments: memory that is there before the program, which points to more of it. */
static void give_command_line(struct dh_w *w)
{
    if (w->main_fn == DH_W_NONE)
        return;
    dh_pts_object line =
        dh_w_object_add(w, (struct dh_w_object){.kind = DH_W_OUTSIDE, .inst = DH_W_NONE, .root = DH_W_NONE},
                        DH_PTS_ANY, DH_PTS_COLLAPSED);
    dh_pts_node memory = dh_pts_value(w->pts);
    dh_pts_address(w->pts, memory, line, DH_PTS_ANY);
    dh_pts_store(w->pts, memory, 0, memory);
    for (u32 i = 1; i < w->fns[w->main_fn].args; i++)
        dh_pts_copy(w->pts, w->insts[w->roots[0].inst].node[i], memory);
}

static bool calls_exit(const struct dh_w_fn *f)
{
    static const char *const names[] = {"exit", "quick_exit", "err", "errx"};
    size_t len;
    for (size_t i = 0; i < f->n_ops; i++)
        for (size_t n = 0; f->ops[i].kind == DH_W_STOP && n < DH_ARRAY_LEN(names); n++)
            if (strcmp(LLVMGetValueName2(LLVMGetCalledValue(f->ops[i].inst), &len), names[n]) == 0)
                return true;
    return false;
}

static bool has_edge(const struct dh_w_inst *inst, u32 op, u32 callee)
{
    for (size_t e = 0; e < inst->n_edges; e++)
        if (inst->edges[e].op == op && inst->edges[e].inst == callee)
            return true;
    return false;
}

static bool add_last_in(struct dh_w *w, u32 fn, u32 root)
{
    u32 there = dh_w_instance(w, fn, root, DH_W_NONE, DH_W_NONE);
    for (size_t i = 0; i < w->n_last; i++)
        if (w->last[i] == there)
            return false;
    w->last = dh_util_grow(w->last, w->n_last, &w->cap_last, sizeof *w->last);
    w->last[w->n_last++] = there;
    return true;
}

/* What runs when the program ends runs on the thread that ends it: main, or whoever calls exit. false: it
 * does, as far as is known. */
static bool spread_late(struct dh_w *w)
{
    u64 ends = 1;
    bool more = false;
    size_t insts = w->n_insts, last = w->n_last;
    for (size_t i = 0; i < insts; i++)
        if (w->insts[i].root != 0 && calls_exit(&w->fns[w->insts[i].fn]))
            ends |= 1ull << w->insts[i].root;
    for (u32 r = 0; r < w->n_roots; r++) {
        if (!(ends >> r & 1))
            continue;
        for (size_t i = 0; i < last; i++)
            more |= add_last_in(w, w->insts[w->last[i]].fn, r);
        for (u32 i = 0; i < insts; i++)
            for (size_t e = 0; e < w->insts[i].n_edges; e++) {
                struct dh_w_edge edge = w->insts[i].edges[e];
                if (!edge.late || w->insts[edge.inst].root == r)
                    continue;
                u32 there = dh_w_instance(w, w->insts[edge.inst].fn, r, DH_W_NONE, DH_W_NONE);
                if (has_edge(&w->insts[i], edge.op, there))
                    continue;
                dh_w_bind(w, i, edge.op, there);
                more = true;
            }
    }
    drain(w);
    return more;
}

int dh_w_solve(struct dh_w *w)
{
    for (size_t i = 0; i < w->n_fns; i++)
        w->program_ops += w->fns[i].n_ops;
    w->thrown = dh_pts_value(w->pts);
    w->kept = dh_pts_value(w->pts);
    w->given = dh_pts_value(w->pts);
    dh_w_constants_initialise(w);
    add_root(w, (struct dh_w_root){.kind = DH_PAIRS_MAIN, .fn = w->main_fn, .creator = DH_W_NONE, .api = ""});
    give_command_line(w);
    add_section(w, ".preinit_array", add_early);
    add_listed(w, "llvm.global_ctors", add_early);
    add_section(w, ".init_array", add_early);
    add_section(w, ".ctors", add_early);
    add_listed(w, "llvm.global_dtors", add_last);
    add_section(w, ".fini_array", add_last);
    add_section(w, ".dtors", add_last);
    for (u32 i = 0; w->main_fn == DH_W_NONE && i < w->n_fns; i++)
        if (w->fns[i].defined && LLVMGetLinkage(w->fns[i].value) == LLVMExternalLinkage)
            add_early(w, i);
    drain(w);
    int err = dh_pts_solve(w->pts);
    while (err == 0 && spread_late(w))
        err = dh_pts_solve(w->pts);
    return err;
}
