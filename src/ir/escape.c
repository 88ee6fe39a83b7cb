/*
 * escape.c - which memory no other thread can write to, so that accesses to it need no check.
 *
 * Sound because each answer is a property of the whole function body before anything is inserted (and what is
 * private is never given to a check, so the answer stays true while other functions are done):
 *   - a local variable (or by-value argument) whose address is never stored, returned or passed to a
 *     call that may keep it;
 *   - a thread-local variable of this module only, of which the same holds in all its functions;
 *   - constant globals, and what a vtable pointer points to, which is constant;
 *   - counters of coverage and profiling, which the compiler put there and which race by design.
 * A pointer that may point into several objects is private only if all of them are.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"

/* Open addressing; a key is the local variable, kept with the answer. */
struct slot {
    LLVMValueRef local;
    bool captured;
};

struct dh_ir_escape {
    struct slot *slots;
    size_t count, size; /* size: a power of two */
};

struct dh_ir_escape *dh_ir_escape_new(void)
{
    struct dh_ir_escape *e = calloc(1, sizeof(*e));
    e->size = 64;
    e->slots = calloc(e->size, sizeof(*e->slots));
    return e;
}

void dh_ir_escape_free(struct dh_ir_escape *e)
{
    if (!e)
        return;
    free(e->slots);
    free(e);
}

static struct slot *find(struct dh_ir_escape *e, LLVMValueRef local)
{
    size_t i = dh_hash64((uptr)local) & (e->size - 1);
    while (e->slots[i].local && e->slots[i].local != local)
        i = (i + 1) & (e->size - 1);
    return &e->slots[i];
}

static void grow(struct dh_ir_escape *e)
{
    struct dh_ir_escape bigger = {.count = e->count, .size = e->size * 2};
    bigger.slots = calloc(bigger.size, sizeof(*bigger.slots));
    for (size_t i = 0; i < e->size; i++)
        if (e->slots[i].local)
            *find(&bigger, e->slots[i].local) = e->slots[i];
    free(e->slots);
    *e = bigger;
}

static bool is_captured(struct dh_ir_escape *e, LLVMValueRef local)
{
    struct slot *s = find(e, local);
    if (!s->local) {
        if (e->count * 2 >= e->size) {
            grow(e);
            s = find(e, local);
        }
        s->local = local;
        s->captured = dh_shim_may_be_captured(local);
        e->count++;
    }
    return s->captured;
}

static bool is_counter(LLVMValueRef global)
{
    size_t len;
    const char *name = LLVMGetValueName2(global, &len);
    const char *section = LLVMGetSection(global);
    return strncmp(name, "__llvm_", 7) == 0 || strncmp(name, "__prof", 6) == 0 ||
           (section && strncmp(section, "__llvm_prf_", 11) == 0);
}

static bool is_private_object(void *arg, LLVMValueRef object)
{
    if (LLVMIsAAllocaInst(object) || dh_shim_is_byval_argument(object))
        return !is_captured(arg, object);
    if (LLVMIsAGlobalVariable(object)) {
        bool local =
            LLVMGetLinkage(object) == LLVMInternalLinkage || LLVMGetLinkage(object) == LLVMPrivateLinkage;
        return LLVMIsGlobalConstant(object) || is_counter(object) ||
               (local && LLVMIsThreadLocal(object) && !is_captured(arg, object));
    }
    return LLVMIsALoadInst(object) && dh_shim_is_vtable_access(object);
}

bool dh_ir_escape_is_private(struct dh_ir_escape *e, LLVMValueRef ptr)
{
    return dh_shim_each_object(ptr, is_private_object, e);
}
