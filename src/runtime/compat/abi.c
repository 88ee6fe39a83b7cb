/*
 * compat/abi.c - the rest of the instrumentation of -fsanitize=thread: start, mem* functions, accesses whose
 * place is given. The single accesses are in compat/fastpath.c, atomic ones in compat/atomic.c.
 */
#include <string.h>

#include "runtime/compat/compat.h"
#include "runtime/engine/engine.h"

bool dh_compat_modules;

/* From the constructor of every object file, before all others. gcc may tail-call this from it: then the
 * caller is the dynamic linker, and the module remains unannounced. */
DH_COMPAT void __tsan_init(void)
{
    dh_compat_modules = true;
    __dh_module_init_v3(__builtin_return_address(0));
}

/* What clang emits for struct assignments and mem* calls. The interceptors do the work; being tail-called,
 * they see our caller as theirs. */
DH_COMPAT void *__tsan_memcpy(void *dst, const void *src, size_t n)
{
    return memcpy(dst, src, n);
}

DH_COMPAT void *__tsan_memmove(void *dst, const void *src, size_t n)
{
    return memmove(dst, src, n);
}

DH_COMPAT void *__tsan_memset(void *dst, int c, size_t n)
{
    return memset(dst, c, n);
}

/* For language runtimes, which pass the place of the access. */
#define AT(size)                                              \
    DH_COMPAT void __tsan_read##size##_pc(void *p, void *pc)  \
    {                                                         \
        dh_range_from_code(p, size, 0, DH_READ, pc);          \
    }                                                         \
    DH_COMPAT void __tsan_write##size##_pc(void *p, void *pc) \
    {                                                         \
        dh_range_from_code(p, size, 0, DH_WRITE, pc);         \
    }
AT(1)
AT(2)
AT(4)
AT(8)
AT(16)

DH_COMPAT void __tsan_read_range_pc(void *p, size_t n, void *pc)
{
    dh_range_from_code(p, n, 0, DH_READ | DH_RANGE, pc);
}

DH_COMPAT void __tsan_write_range_pc(void *p, size_t n, void *pc)
{
    dh_range_from_code(p, n, 0, DH_WRITE | DH_RANGE, pc);
}
