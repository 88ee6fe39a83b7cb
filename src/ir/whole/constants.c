/*
 * constants.c - addresses in constants: globals, functions, expressions over them, and initialisers.
 *
 * Each constant that holds an address has one node, shared by all instances. Whole aggregates are one node
 * with all the addresses in them; initialisers are stored field by field.
 */
#include <llvm-c/Target.h>
#include <string.h>

#include "ir/whole/read.h"

u32 dh_w_global(struct dh_w *w, LLVMValueRef value)
{
    struct dh_w_key key = DH_W_KEY((u64)(uptr)value);
    u32 n = dh_w_table_get(&w->global_of, key);
    if (n != DH_W_TABLE_NONE)
        return n;
    struct dh_w_global g = {.value = value, .object = DH_PTS_NONE, .copies = DH_PTS_NONE};
    LLVMTypeRef type = LLVMGlobalGetValueType(value);
    bool local = LLVMIsThreadLocal(value);
    size_t len;
    const char *name = LLVMGetValueName2(value, &len);
    /* Tables of virtual functions and types in other libraries are only declared. */
    bool constant = LLVMIsGlobalConstant(value) || (len > 4 && name[0] == '_' && name[1] == 'Z' &&
                                                    name[2] == 'T' && strchr("VIS", name[3]) != NULL);
    /* Text and tables of numbers: nothing is stored in them, so all of them are as good as one. */
    bool text = constant && !LLVMIsDeclaration(value) && !dh_w_carries(type);
    if (text && w->text != DH_PTS_NONE) {
        g.object = w->text;
    } else {
        g.object = dh_w_object_add(w,
                                   (struct dh_w_object){.kind = local ? DH_W_THREAD_LOCAL : DH_W_GLOBAL,
                                                        .constant = constant,
                                                        .number = (u32)w->n_globals,
                                                        .inst = DH_W_NONE,
                                                        .root = DH_W_NONE,
                                                        .value = value},
                                   text ? DH_PTS_ANY : dh_w_size(w, type), text ? DH_PTS_COLLAPSED : 0);
        dh_w_declare_arrays(w, g.object, type, 0);
        if (text)
            w->text = g.object;
    }
    w->globals = dh_util_grow(w->globals, w->n_globals, &w->cap_globals, sizeof *w->globals);
    w->globals[w->n_globals] = g;
    dh_w_table_put(&w->global_of, key, (u32)w->n_globals);
    return (u32)w->n_globals++;
}

/* Short arrays keep their elements apart until an index that is not constant meets them: vtables, handles. */
enum { LONG_ARRAY = 64 };

void dh_w_declare_arrays(struct dh_w *w, dh_pts_object o, LLVMTypeRef type, u32 start)
{
    if (!LLVMTypeIsSized(type))
        return;
    switch (LLVMGetTypeKind(type)) {
    case LLVMArrayTypeKind: {
        LLVMTypeRef element = LLVMGetElementType(type);
        u64 stride = LLVMABISizeOfType(w->layout, element), count = LLVMGetArrayLength2(type);
        if (count >= LONG_ARRAY && stride > 0 && stride * count < DH_PTS_ANY)
            dh_pts_array(w->pts, o, start, (u32)(stride * count), (u32)stride);
        if (count > 0)
            dh_w_declare_arrays(w, o, element, start);
        break;
    }
    case LLVMStructTypeKind:
        for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
            dh_w_declare_arrays(w, o, LLVMStructGetTypeAtIndex(type, i),
                                start + (u32)LLVMOffsetOfElement(w->layout, type, i));
        break;
    default:
        break;
    }
}

/* The bytes from offset to the end of the largest part of the type that begins there, or, in the middle of an
 * array, of that array. */
static u64 part(struct dh_w *w, LLVMTypeRef type, u64 offset)
{
    u64 size = LLVMABISizeOfType(w->layout, type);
    if (offset == 0)
        return size;
    switch (LLVMGetTypeKind(type)) {
    case LLVMArrayTypeKind: {
        LLVMTypeRef element = LLVMGetElementType(type);
        u64 stride = LLVMABISizeOfType(w->layout, element);
        u64 in = stride == 0 ? 0 : offset % stride;
        return in == 0 ? size - offset : part(w, element, in);
    }
    case LLVMStructTypeKind: {
        unsigned field = LLVMElementAtOffset(w->layout, type, offset);
        return part(w, LLVMStructGetTypeAtIndex(type, field),
                    offset - LLVMOffsetOfElement(w->layout, type, field));
    }
    default:
        return size > offset ? size - offset : 0;
    }
}

uint32_t dh_w_reach(void *client, dh_pts_object o, uint32_t offset)
{
    struct dh_w *w = client;
    const struct dh_w_object *object = o < w->n_objects ? &w->objects[o] : NULL;
    LLVMTypeRef type = NULL;
    /* Where only bytes are indexed, bytes are copied: an assumption, which is counted. */
    if (offset == DH_PTS_ANY) {
        if (object == NULL || object->kind == DH_W_HIDDEN || dh_pts_collapsed(w->pts, o))
            return DH_PTS_ANY;
        dh_w_assume(w, DH_W_ASSUME_BYTES, 1, object->kind == DH_W_HEAP ? object->value : NULL);
        return 0;
    }
    if (object != NULL && (object->kind == DH_W_GLOBAL || object->kind == DH_W_THREAD_LOCAL) &&
        object->value != NULL && LLVMIsAGlobalVariable(object->value) != NULL && o != w->text)
        type = LLVMGlobalGetValueType(object->value);
    else if (object != NULL && object->kind == DH_W_STACK && object->op->length != DH_PTS_ANY)
        type = LLVMGetAllocatedType(object->value);
    if (type == NULL || !LLVMTypeIsSized(type) || offset >= LLVMABISizeOfType(w->layout, type))
        return DH_PTS_ANY;
    u64 n = part(w, type, offset);
    return n == 0 || n >= DH_PTS_ANY ? DH_PTS_ANY : (u32)n;
}

static dh_pts_node node_of(struct dh_w *w, LLVMValueRef value)
{
    dh_w_value v = dh_w_carries(LLVMTypeOf(value)) ? dh_w_constant(w, value) : DH_W_NONE;
    return v == DH_W_NONE ? DH_PTS_NONE : w->constants[v & ~DH_W_CONSTANT].node;
}

static dh_pts_node copy_of(struct dh_w *w, LLVMValueRef value)
{
    dh_pts_node src = node_of(w, value);
    if (src == DH_PTS_NONE)
        return DH_PTS_NONE;
    dh_pts_node n = dh_pts_value(w->pts);
    dh_pts_copy(w->pts, n, src);
    return n;
}

static dh_pts_node gep_node(struct dh_w *w, LLVMValueRef value)
{
    dh_pts_node n = node_of(w, LLVMGetOperand(value, 0));
    struct dh_w_step steps[DH_W_MAX_STEPS];
    size_t count = dh_w_gep(w, value, steps);
    if (n == DH_PTS_NONE)
        return n;
    if (count != 1 || steps[0].stride != 0) {
        dh_pts_node any = dh_pts_value(w->pts);
        dh_pts_any(w->pts, any, n);
        return any;
    }
    dh_pts_node at = dh_pts_value(w->pts);
    dh_pts_offset(w->pts, at, n, steps[0].off);
    return at;
}

static dh_pts_node union_of_operands(struct dh_w *w, LLVMValueRef value, bool any)
{
    dh_pts_node all = DH_PTS_NONE;
    for (int i = 0; i < LLVMGetNumOperands(value); i++) {
        dh_pts_node n = node_of(w, LLVMGetOperand(value, (unsigned)i));
        if (n == DH_PTS_NONE)
            continue;
        if (all == DH_PTS_NONE)
            all = dh_pts_value(w->pts);
        if (any)
            dh_pts_any(w->pts, all, n);
        else
            dh_pts_copy(w->pts, all, n);
    }
    return all;
}

static dh_pts_node expression_node(struct dh_w *w, LLVMValueRef value)
{
    switch (LLVMGetConstOpcode(value)) {
    case LLVMGetElementPtr:
        return gep_node(w, value);
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
        return copy_of(w, LLVMGetOperand(value, 0));
    default:
        return union_of_operands(w, value, true);
    }
}

static dh_pts_node address_node(struct dh_w *w, dh_pts_object o)
{
    dh_pts_node n = dh_pts_value(w->pts);
    dh_pts_address(w->pts, n, o, 0);
    return n;
}

static bool holds_address(LLVMValueRef value)
{
    if (LLVMIsAConstantStruct(value) == NULL && LLVMIsAConstantArray(value) == NULL &&
        LLVMIsAConstantVector(value) == NULL)
        return LLVMIsAGlobalValue(value) != NULL || LLVMIsAConstantExpr(value) != NULL;
    for (int i = 0; i < LLVMGetNumOperands(value); i++)
        if (holds_address(LLVMGetOperand(value, (unsigned)i)))
            return true;
    return false;
}

/* Strings, tables of numbers: never written, and nothing comes out of them. Without them, sets are a
 * fraction. */
static bool is_mere_data(LLVMValueRef global)
{
    LLVMValueRef value = LLVMGetInitializer(global);
    return LLVMIsGlobalConstant(global) && value != NULL && !holds_address(value);
}

/*
 * Linkers name the beginning and the end of a section (__start_commands, __stop_commands), so that a program
 * can walk over all that its files have put there. What the walk finds are the variables of the section.
 */
static const char *walked_section(LLVMValueRef value)
{
    static const char *const ends[] = {"__start_", "__stop_"};
    size_t len;
    const char *name = LLVMGetValueName2(value, &len);
    for (size_t i = 0; i < DH_ARRAY_LEN(ends) && LLVMIsDeclaration(value); i++)
        if (strncmp(name, ends[i], strlen(ends[i])) == 0)
            return name + strlen(ends[i]);
    return NULL;
}

static dh_pts_node section_node(struct dh_w *w, const char *name)
{
    dh_pts_node all = DH_PTS_NONE;
    for (LLVMValueRef g = LLVMGetFirstGlobal(w->module); g != NULL; g = LLVMGetNextGlobal(g)) {
        const char *section = LLVMGetSection(g);
        dh_pts_node one = section != NULL && strcmp(section, name) == 0 ? node_of(w, g) : DH_PTS_NONE;
        if (one == DH_PTS_NONE)
            continue;
        if (all == DH_PTS_NONE)
            all = dh_pts_value(w->pts);
        dh_pts_copy(w->pts, all, one);
    }
    return all;
}

static dh_pts_node make_node(struct dh_w *w, LLVMValueRef value)
{
    if (LLVMIsAFunction(value) != NULL)
        return address_node(w, w->fns[dh_w_table_get(&w->fn_of, DH_W_KEY((u64)(uptr)value))].object);
    const char *section = LLVMIsAGlobalVariable(value) != NULL ? walked_section(value) : NULL;
    dh_pts_node walked = section != NULL ? section_node(w, section) : DH_PTS_NONE;
    if (walked != DH_PTS_NONE)
        return walked;
    if (LLVMIsAGlobalVariable(value) != NULL)
        return is_mere_data(value) ? DH_PTS_NONE : address_node(w, w->globals[dh_w_global(w, value)].object);
    if (LLVMIsAGlobalAlias(value) != NULL)
        return copy_of(w, LLVMAliasGetAliasee(value));
    if (LLVMIsAConstantExpr(value) != NULL)
        return expression_node(w, value);
    if (LLVMIsAConstantStruct(value) != NULL || LLVMIsAConstantArray(value) != NULL ||
        LLVMIsAConstantVector(value) != NULL)
        return union_of_operands(w, value, false);
    return DH_PTS_NONE;
}

dh_w_value dh_w_constant(struct dh_w *w, LLVMValueRef value)
{
    struct dh_w_key key = DH_W_KEY((u64)(uptr)value);
    u32 n = dh_w_table_get(&w->constant_of, key);
    if (n == DH_W_TABLE_NONE) {
        dh_pts_node node = make_node(w, value);
        n = (u32)w->n_constants;
        w->constants = dh_util_grow(w->constants, w->n_constants, &w->cap_constants, sizeof *w->constants);
        w->constants[w->n_constants++] = (struct dh_w_constant){value, node};
        dh_w_table_put(&w->constant_of, key, n);
    }
    return w->constants[n].node == DH_PTS_NONE ? DH_W_NONE : n | DH_W_CONSTANT;
}

/* *(at + off) = value, field by field */
static void initialise(struct dh_w *w, dh_pts_node at, int64_t off, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    if (!dh_w_carries(type))
        return;
    if (LLVMIsAConstantStruct(value) != NULL) {
        for (int i = 0; i < LLVMGetNumOperands(value); i++)
            initialise(w, at, off + (int64_t)LLVMOffsetOfElement(w->layout, type, (unsigned)i),
                       LLVMGetOperand(value, (unsigned)i));
    } else if (LLVMIsAConstantArray(value) != NULL) {
        int64_t size = (int64_t)LLVMABISizeOfType(w->layout, LLVMGetElementType(type));
        for (int i = 0; i < LLVMGetNumOperands(value); i++)
            initialise(w, at, off + size * i, LLVMGetOperand(value, (unsigned)i));
    } else {
        dh_pts_node n = node_of(w, value);
        if (n != DH_PTS_NONE)
            dh_pts_store(w->pts, at, off, n);
    }
}

/* A variable of a library that holds pointers: they point to memory of the library. */
static void point_outside(struct dh_w *w, const struct dh_w_global *g)
{
    if (!dh_w_holds_pointers(LLVMGlobalGetValueType(g->value)) || w->objects[g->object].constant)
        return;
    dh_pts_object outside = dh_w_object_add(
        w,
        (struct dh_w_object){.kind = DH_W_OUTSIDE, .inst = DH_W_NONE, .root = DH_W_NONE, .value = g->value},
        DH_PTS_ANY, DH_PTS_COLLAPSED);
    dh_pts_node memory = dh_pts_value(w->pts), anywhere = dh_pts_value(w->pts);
    dh_pts_address(w->pts, memory, outside, DH_PTS_ANY);
    dh_pts_address(w->pts, anywhere, g->object, DH_PTS_ANY);
    dh_pts_store(w->pts, anywhere, 0, memory);
    dh_pts_store(w->pts, memory, 0, memory);
    dh_w_assume(w, DH_W_ASSUME_FOREIGN, 1, g->value);
}

void dh_w_constants_initialise(struct dh_w *w)
{
    for (size_t i = 0; i < w->n_globals; i++) {
        LLVMValueRef g = w->globals[i].value, value = LLVMGetInitializer(g);
        if (LLVMIsDeclaration(g) && !LLVMIsThreadLocal(g) && LLVMGetFirstUse(g) != NULL &&
            walked_section(g) == NULL)
            point_outside(w, &w->globals[i]);
        if (value == NULL || !dh_w_carries(LLVMTypeOf(value)) || LLVMIsNull(value))
            continue;
        size_t len;
        if (strncmp(LLVMGetValueName2(g, &len), "llvm.", 5) == 0)
            continue;
        initialise(w, address_node(w, w->globals[i].object), 0, value);
    }
}

void dh_w_constants_initialise_copy(struct dh_w *w, u32 global, dh_pts_object copy)
{
    LLVMValueRef value = LLVMGetInitializer(w->globals[global].value);
    if (value != NULL)
        initialise(w, address_node(w, copy), 0, value);
}
