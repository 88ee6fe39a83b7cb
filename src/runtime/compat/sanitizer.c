/*
 * compat/sanitizer.c - <sanitizer/common_interface_defs.h> and <sanitizer/allocator_interface.h>: what all
 * sanitizers of gcc and clang have, so that programs that call it link and run.
 *
 * Accesses are checked, questions about blocks and modules answered, a stack printed as addresses in modules,
 * which addr2line and deadheat understand. The rest has nothing to say about races, or is about a report that
 * is made in another process: it does nothing.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "base/fmt.h"
#include "base/sys.h"
#include "runtime/compat/compat.h"
#include "runtime/shadow/heap.h"
#include "runtime/sink/sink.h"
#include "runtime/threads/context.h"

/* ---- Accesses ---- */

static void touch(const void *p, size_t n, u32 kind, const void *pc)
{
    DH_SCOPE(sc);
    if (!dh_scope_begin(&sc, pc))
        return;
    if (!sc.t->untracked)
        dh_sink_access_at(sc.t, p, n, kind, NULL);
    dh_scope_end(&sc);
}

#define UNALIGNED(bits)                                                  \
    DH_COMPAT u##bits __sanitizer_unaligned_load##bits(const void *p)    \
    {                                                                    \
        u##bits x;                                                       \
        touch(p, sizeof(x), DH_READ, __builtin_return_address(0));       \
        __builtin_memcpy(&x, p, sizeof(x));                              \
        return x;                                                        \
    }                                                                    \
    DH_COMPAT void __sanitizer_unaligned_store##bits(void *p, u##bits x) \
    {                                                                    \
        touch(p, sizeof(x), DH_WRITE, __builtin_return_address(0));      \
        __builtin_memcpy(p, &x, sizeof(x));                              \
    }
UNALIGNED(16)
UNALIGNED(32)
UNALIGNED(64)

/* ---- Places ---- */

DH_COMPAT int __sanitizer_get_module_and_offset_for_pc(void *pc, char *path, size_t n, void **offset)
{
    Dl_info info;
    struct link_map *map;
    if (!dladdr1(pc, &info, (void **)&map, RTLD_DL_LINKMAP) || n == 0)
        return 0;
    const char *name = map->l_name[0] ? map->l_name : info.dli_fname;
    strncpy(path, name, n - 1);
    path[n - 1] = '\0';
    *offset = (void *)((uptr)pc - map->l_addr);
    return 1;
}

/* "PATH+0xOFFSET", whatever the format asks for: names are found by the reporter. */
static void name_pc(void *pc, char *out, size_t n)
{
    char path[1024];
    void *offset;
    struct dh_fmt f;
    dh_fmt_init(&f, out, n);
    if (__sanitizer_get_module_and_offset_for_pc(pc, path, sizeof(path), &offset)) {
        dh_fmt_str(&f, path);
        dh_fmt_char(&f, '+');
        dh_fmt_hex(&f, (uptr)offset);
    } else {
        dh_fmt_hex(&f, (uptr)pc);
    }
}

DH_COMPAT void __sanitizer_symbolize_pc(void *pc, const char *format, char *out, size_t n)
{
    (void)format;
    if (n)
        name_pc(pc, out, n);
}

DH_COMPAT void __sanitizer_symbolize_global(void *data, const char *format, char *out, size_t n)
{
    (void)format;
    if (n)
        name_pc(data, out, n);
}

/* The calls that lead here, innermost first, on standard error. */
DH_COMPAT void __sanitizer_print_stack_trace(void)
{
    char name[1200], line[1300];
    dh_ctx_t ctx;
    u32 number = 0;
    DH_COMPAT_ENTER();
    ctx = dh_thread_current_ctx(sc.t);
    for (; !dh_ctx_is_none(ctx); ctx = dh_ctx_node(ctx)->parent) {
        struct dh_fmt f;
        name_pc((void *)(uptr)dh_ctx_node(ctx)->pc, name, sizeof(name));
        dh_fmt_init(&f, line, sizeof(line));
        dh_fmt_str(&f, "    #");
        dh_fmt_u64(&f, number++);
        dh_fmt_char(&f, ' ');
        dh_fmt_str(&f, name);
        dh_fmt_char(&f, '\n');
        dh_sys_write_all(2, line, f.len);
    }
    dh_scope_end(&sc);
}

/* ---- The heap ---- */

DH_COMPAT size_t __sanitizer_get_allocated_size(const volatile void *p)
{
    size_t n;
    return p && dh_heap_size((const void *)p, &n) ? n : 0;
}

DH_COMPAT size_t __sanitizer_get_allocated_size_fast(const volatile void *p)
{
    return __sanitizer_get_allocated_size(p);
}

DH_COMPAT int __sanitizer_get_ownership(const volatile void *p)
{
    size_t n;
    return p && dh_heap_size((const void *)p, &n);
}

DH_COMPAT const void *__sanitizer_get_allocated_begin(const void *p)
{
    struct dh_heap_block block;
    return dh_heap_find((uptr)p, &block) && !block.freed ? (const void *)block.start : NULL;
}

DH_COMPAT size_t __sanitizer_get_estimated_allocated_size(size_t n)
{
    return n;
}

/* It is glibc's, which counts in its own way: mallinfo2(). */
DH_COMPAT size_t __sanitizer_get_current_allocated_bytes(void)
{
    return 0;
}

DH_COMPAT size_t __sanitizer_get_heap_size(void)
{
    return 0;
}

DH_COMPAT size_t __sanitizer_get_free_bytes(void)
{
    return 0;
}

DH_COMPAT size_t __sanitizer_get_unmapped_bytes(void)
{
    return 0;
}

DH_COMPAT void __sanitizer_purge_allocator(void)
{
}

/* How many there are now: none, they are not called. */
DH_COMPAT int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                                        void (*on_free)(const volatile void *))
{
    (void)on_malloc, (void)on_free;
    return 0;
}

/* ---- What says nothing about races ---- */

/* True for the first who asks, who may then end the process. */
DH_COMPAT int __sanitizer_acquire_crash_state(void)
{
    static int taken;
    return !__atomic_exchange_n(&taken, 1, __ATOMIC_RELAXED);
}

DH_COMPAT void __sanitizer_set_report_path(const char *path)
{
    (void)path;
}

DH_COMPAT void __sanitizer_set_report_fd(void *fd)
{
    (void)fd;
}

DH_COMPAT const char *__sanitizer_get_report_path(void)
{
    return "stderr";
}

DH_COMPAT void __sanitizer_sandbox_on_notify(void *args)
{
    (void)args;
}

DH_COMPAT void __sanitizer_report_error_summary(const char *summary)
{
    (void)summary;
}

DH_COMPAT void __sanitizer_set_death_callback(void (*callback)(void))
{
    (void)callback;
}

DH_COMPAT void __sanitizer_print_memory_profile(size_t top_percent, size_t max_contexts)
{
    (void)top_percent, (void)max_contexts;
}

/* AddressSanitizer's; the words for fibers here are __tsan_switch_to_fiber and dh_lard_thread_switch. */
DH_COMPAT void __sanitizer_start_switch_fiber(void **save, const void *bottom, size_t size)
{
    (void)save, (void)bottom, (void)size;
}

DH_COMPAT void __sanitizer_finish_switch_fiber(void *save, const void **old_bottom, size_t *old_size)
{
    (void)save, (void)old_bottom, (void)old_size;
}

DH_COMPAT void __sanitizer_annotate_contiguous_container(const void *begin, const void *end,
                                                         const void *old_mid, const void *new_mid)
{
    (void)begin, (void)end, (void)old_mid, (void)new_mid;
}

DH_COMPAT void
__sanitizer_annotate_double_ended_contiguous_container(const void *storage, const void *storage_end,
                                                       const void *old_begin, const void *old_end,
                                                       const void *new_begin, const void *new_end)
{
    (void)storage, (void)storage_end, (void)old_begin, (void)old_end, (void)new_begin, (void)new_end;
}

DH_COMPAT int __sanitizer_verify_contiguous_container(const void *begin, const void *mid, const void *end)
{
    (void)begin, (void)mid, (void)end;
    return 1;
}

DH_COMPAT int __sanitizer_verify_double_ended_contiguous_container(const void *storage, const void *begin,
                                                                   const void *end, const void *storage_end)
{
    (void)storage, (void)begin, (void)end, (void)storage_end;
    return 1;
}

DH_COMPAT const void *__sanitizer_contiguous_container_find_bad_address(const void *begin, const void *mid,
                                                                        const void *end)
{
    (void)begin, (void)mid, (void)end;
    return NULL;
}

DH_COMPAT const void *__sanitizer_double_ended_contiguous_container_find_bad_address(const void *storage,
                                                                                     const void *begin,
                                                                                     const void *end,
                                                                                     const void *storage_end)
{
    (void)storage, (void)begin, (void)end, (void)storage_end;
    return NULL;
}
