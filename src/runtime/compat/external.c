/*
 * compat/external.c - <sanitizer/tsan_interface.h>: accesses to objects of a library.
 *
 * A library reports each call that reads or changes one of its objects as a read or write of the object's
 * first byte, at the place of the call. Tags are the kinds of object. They are only numbered: a report names
 * the object by its block and the functions by their names, which says the same.
 */
#include "runtime/compat/compat.h"
#include "runtime/sink/sink.h"

DH_COMPAT void *__tsan_external_register_tag(const char *object_type)
{
    static uptr tags;
    (void)object_type;
    return (void *)__atomic_add_fetch(&tags, 1, __ATOMIC_RELAXED);
}

DH_COMPAT void __tsan_external_register_header(void *tag, const char *header)
{
    (void)tag;
    (void)header;
}

DH_COMPAT void __tsan_external_assign_tag(void *addr, void *tag)
{
    (void)addr;
    (void)tag;
}

/* pc: in the function of the library; caller: where that was called from. */
static void touch(void *addr, u32 kind, const void *pc, const void *caller)
{
    DH_SCOPE(sc);
    if (!dh_scope_begin(&sc, caller ? caller : pc))
        return;
    if (!sc.t->untracked)
        dh_sink_access_at(sc.t, addr, 1, kind, caller ? pc : NULL);
    dh_scope_end(&sc);
}

DH_COMPAT void __tsan_external_read(void *addr, void *caller_pc, void *tag)
{
    (void)tag;
    touch(addr, DH_READ, __builtin_return_address(0), caller_pc);
}

DH_COMPAT void __tsan_external_write(void *addr, void *caller_pc, void *tag)
{
    (void)tag;
    touch(addr, DH_WRITE, __builtin_return_address(0), caller_pc);
}
