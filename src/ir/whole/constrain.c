/*
 * constrain.c - translates the operations of an instance into constraints for the points-to solver.
 */
#include "ir/whole/model.h"

/* Memory that there is one of for each key: of a thread-local variable in a root, of a library function. */
static dh_pts_object shared_object(struct dh_w *w, struct dh_w_key key, struct dh_w_object object, u32 size)
{
    u32 o = dh_w_table_get(&w->object_of, key);
    if (o != DH_W_TABLE_NONE)
        return o;
    o = dh_w_object_add(w, object, size, 0);
    dh_w_table_put(&w->object_of, key, o);
    return o;
}

static void stack_object(struct dh_w *w, u32 inst, const struct dh_w_op *op, dh_pts_node dst)
{
    u32 o = dh_w_object_add(
        w,
        (struct dh_w_object){
            .kind = DH_W_STACK, .inst = inst, .root = w->insts[inst].root, .op = op, .value = op->inst},
        op->length, 0);
    if (op->length != DH_PTS_ANY)
        dh_w_declare_arrays(w, o, LLVMGetAllocatedType(op->inst), 0);
    dh_pts_address(w->pts, dst, o, 0);
}

static void heap_object(struct dh_w *w, u32 inst, const struct dh_w_op *op, dh_pts_node dst)
{
    struct dh_w_shape shape = dh_w_shape_of_block(w, inst, op);
    u32 o = dh_w_object_add(w,
                            (struct dh_w_object){.kind = DH_W_HEAP,
                                                 .inst = inst,
                                                 .root = w->insts[inst].root,
                                                 .op = op,
                                                 .value = op->inst,
                                                 .shape = shape},
                            shape.size, 0);
    dh_pts_address(w->pts, dst, o, 0);
}

static void thread_local_object(struct dh_w *w, u32 inst, const struct dh_w_op *op, dh_pts_node dst)
{
    u32 root = w->insts[inst].root;
    size_t before = w->n_objects;
    LLVMValueRef g = w->globals[op->b].value;
    LLVMTypeRef type = LLVMGlobalGetValueType(g);
    u32 size = dh_pts_size(w->pts, w->globals[op->b].object);
    u32 o = shared_object(
        w, DH_W_KEY(1, op->b, root),
        (struct dh_w_object){
            .kind = DH_W_THREAD_LOCAL, .number = op->b, .inst = DH_W_NONE, .root = root, .value = g},
        size);
    if (w->n_objects > before) {
        dh_w_declare_arrays(w, o, type, 0);
        dh_w_constants_initialise_copy(w, op->b, o);
        if (w->globals[op->b].copies == DH_PTS_NONE)
            w->globals[op->b].copies = dh_pts_value(w->pts);
        dh_pts_address(w->pts, w->globals[op->b].copies, o, 0);
    }
    if (dh_w_runs_on_others(&w->roots[root]))
        dh_pts_copy(w->pts, dst, w->globals[op->b].copies);
    else
        dh_pts_address(w->pts, dst, o, 0);
}

/* One object of the whole program, in which only libraries look. */
static dh_pts_object common_object(struct dh_w *w, struct dh_w_key key)
{
    u32 o = dh_w_table_get(&w->object_of, key);
    if (o == DH_W_TABLE_NONE) {
        o = dh_w_object_add(w,
                            (struct dh_w_object){.kind = DH_W_OUTSIDE, .inst = DH_W_NONE, .root = DH_W_NONE},
                            DH_PTS_ANY, DH_PTS_COLLAPSED);
        dh_w_table_put(&w->object_of, key, o);
    }
    return o;
}

dh_pts_object dh_w_channel(struct dh_w *w)
{
    return common_object(w, DH_W_KEY(3));
}

/* Memory of a library: one object for each of its functions, and one for each thread where it is per thread.
 */
static void outside_object(struct dh_w *w, u32 inst, const struct dh_w_op *op, dh_pts_node dst)
{
    if (op->flags & DH_W_CHANNEL) {
        dh_pts_address(w->pts, dst, dh_w_channel(w), DH_PTS_ANY);
        return;
    }
    if (op->flags & DH_W_LENT) {
        dh_pts_address(w->pts, dst, common_object(w, DH_W_KEY(4)), DH_PTS_ANY);
        return;
    }
    bool own = op->kind == DH_W_OWN;
    u32 root = own ? w->insts[inst].root : DH_W_NONE;
    LLVMValueRef callee = LLVMGetCalledValue(op->inst);
    u32 o = shared_object(w, DH_W_KEY(2, (u64)(uptr)callee, root),
                          (struct dh_w_object){.kind = own ? DH_W_THREAD_LOCAL : DH_W_OUTSIDE,
                                               .inst = DH_W_NONE,
                                               .root = root,
                                               .op = op,
                                               .value = callee},
                          DH_PTS_ANY);
    dh_pts_address(w->pts, dst, o, 0);
    if (op->flags & DH_W_UNKNOWN) {
        dh_pts_node anywhere = dh_pts_value(w->pts);
        dh_pts_address(w->pts, anywhere, o, DH_PTS_ANY);
        dh_pts_store(w->pts, anywhere, 0, dh_w_node(w, inst, op->b));
    }
}

/* The x86-64 va_list: pointers to the arguments at 8 and 16. */
static void variable_arguments(struct dh_w *w, u32 inst, const struct dh_w_op *op)
{
    dh_pts_node list = dh_w_node(w, inst, op->a), area = dh_pts_value(w->pts);
    u32 o = dh_w_object_add(
        w,
        (struct dh_w_object){
            .kind = DH_W_VARARGS, .inst = inst, .root = w->insts[inst].root, .op = op, .value = op->inst},
        DH_PTS_ANY, DH_PTS_COLLAPSED);
    dh_pts_address(w->pts, area, o, DH_PTS_ANY);
    dh_pts_store(w->pts, list, 8, area);
    dh_pts_store(w->pts, list, 16, area);
    dh_pts_store(w->pts, area, 0, dh_w_node(w, inst, w->fns[w->insts[inst].fn].var));
}

static void call(struct dh_w *w, u32 inst, u32 n, const struct dh_w_op *op)
{
    const struct dh_w_call *c = &w->fns[w->insts[inst].fn].calls[op->call];
    if (c->fn != DH_W_NONE) {
        dh_w_bind(w, inst, n, dh_w_instance(w, c->fn, w->insts[inst].root, inst, n));
        return;
    }
    if (op->flags & DH_W_UNKNOWN) {
        dh_pts_copy(w->pts, w->given, dh_w_node(w, inst, c->args[0]));
    }
    u32 *at = dh_arena_array(&w->arena, 3, sizeof *at);
    at[0] = inst;
    at[1] = n;
    at[2] = DH_PTS_NONE;
    if (op->flags & DH_W_POLLS)
        dh_pts_watch(w->pts, dh_w_node(w, inst, c->callee), at);
    else
        dh_pts_call(w->pts, dh_w_node(w, inst, c->callee), at);
}

static void join(struct dh_w *w, u32 inst, u32 n, const struct dh_w_op *op)
{
    if (op->b == DH_W_NONE)
        return;
    u32 *at = dh_arena_array(&w->arena, 2, sizeof *at);
    at[0] = inst;
    at[1] = n;
    dh_pts_watch(w->pts, dh_w_node(w, inst, op->a), at);
}

static void constrain(struct dh_w *w, u32 inst, u32 n, const struct dh_w_op *op)
{
    struct dh_pts *p = w->pts;
    dh_pts_node dst = op->dst == DH_W_NONE ? DH_PTS_NONE : w->insts[inst].node[op->dst];
    dh_pts_node a = dh_w_node(w, inst, op->a);
    u32 root = w->insts[inst].root;
    switch ((enum dh_w_kind)op->kind) {
    case DH_W_COPY:
        dh_pts_copy(w->pts, dst, a);
        break;
    case DH_W_OFFSET:
        /* Mappings may be larger than the solver's offsets. */
        if (op->off >= (int64_t)DH_PTS_ANY)
            dh_pts_any(p, dst, a);
        else
            dh_pts_offset(p, dst, a, op->off);
        break;
    case DH_W_ELEMENT:
        dh_pts_element(p, dst, a, op->off, op->stride, op->length);
        break;
    case DH_W_ANY:
        dh_pts_any(p, dst, a);
        break;
    case DH_W_LOAD:
        dh_pts_load(p, dst, a, 0);
        break;
    case DH_W_STORE:
        dh_pts_store(p, a, 0, dh_w_node(w, inst, op->b));
        break;
    case DH_W_UPDATE:
        dh_pts_load(p, dst, a, 0);
        dh_pts_store(p, a, 0, dh_w_node(w, inst, op->b));
        break;
    case DH_W_MEMCPY:
        if (!(op->flags & DH_W_BYTES))
            dh_pts_memcpy(p, a, dh_w_node(w, inst, op->b), op->length);
        break;
    case DH_W_ALLOCA:
        stack_object(w, inst, op, dst);
        break;
    case DH_W_ALLOC:
        heap_object(w, inst, op, dst);
        break;
    case DH_W_ALLOC_AT: {
        dh_pts_node fresh = dh_pts_value(p);
        heap_object(w, inst, op, fresh);
        dh_pts_store(p, a, 0, fresh);
        break;
    }
    case DH_W_FOREIGN:
    case DH_W_OWN:
        outside_object(w, inst, op, dst);
        break;
    case DH_W_TLS:
        thread_local_object(w, inst, op, dst);
        break;
    case DH_W_VASTART:
        variable_arguments(w, inst, op);
        break;
    case DH_W_CATCH:
        /* A pointer that was thrown is handed over as itself, anything else by its address. */
        dh_pts_copy(p, dst, w->thrown);
        dh_pts_load(p, dst, w->thrown, 0);
        break;
    case DH_W_THROW:
        dh_pts_copy(p, w->thrown, a);
        break;
    case DH_W_SET:
        dh_pts_copy(p, w->roots[root].kept, a);
        break;
    case DH_W_GET:
        dh_pts_copy(p, dst, w->roots[root].kept);
        break;
    case DH_W_EXIT:
        dh_pts_copy(p, w->roots[root].result, a);
        break;
    case DH_W_CALL:
    case DH_W_BACK:
    case DH_W_LATE:
    case DH_W_FORK:
    case DH_W_SIGNAL:
    case DH_W_OUTSIDER:
        call(w, inst, n, op);
        break;
    case DH_W_JOIN:
    case DH_W_RESULT:
        join(w, inst, n, op);
        break;
    case DH_W_TOUCH:
    case DH_W_LOCK:
    case DH_W_TRYLOCK:
    case DH_W_UNLOCK:
    case DH_W_WAIT:
    case DH_W_BARRIER:
    case DH_W_RENEW:
    case DH_W_AGAIN:
    case DH_W_STOP:
        break;
    }
}

void dh_w_constrain(struct dh_w *w, u32 inst)
{
    const struct dh_w_fn *f = &w->fns[w->insts[inst].fn];
    for (u32 i = 0; i < f->n_ops; i++)
        constrain(w, inst, i, &f->ops[i]);
}
