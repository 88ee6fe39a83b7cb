/*
 * loaded.c - see loaded.h.
 *
 * What libc and the compilers' own libraries do is either intercepted or orders nothing
 * (docs/design/field.md). Any other library is assumed to order threads if its code shows a sign of it: a
 * locked access, a fence, a pause in a waiting loop, a system call of its own. Unlike a program's, its plain
 * accesses cannot all be tracked: it may be large, and it may call back.
 */
#include "chase/loaded.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chase/syscalls.h"
#include "util/path.h"

void dh_chase_loaded_init(struct dh_chase_loaded *l, struct dh_arena *arena)
{
    *l = (struct dh_chase_loaded){.arena = arena};
    dh_map_init(&l->known, arena);
    dh_map_init(&l->silent, arena);
}

void dh_chase_loaded_done(struct dh_chase_loaded *l)
{
    dh_map_done(&l->known);
    dh_map_done(&l->silent);
}

bool dh_chase_loaded_is_trusted(const struct dh_chase_loaded *l, const char *path)
{
    for (size_t i = 0; i < l->n_trusted; i++)
        if (strcmp(l->trusted[i], path) == 0 || strcmp(l->trusted[i], dh_path_base(path)) == 0)
            return true;
    return false;
}

/* ---- One library ---- */

static bool is_system(const char *name)
{
    static const char *const names[] = {
        "ld-linux-x86-64.so.2", "libc.so.6",         "libm.so.6",      "libmvec.so.1",   "libpthread.so.0",
        "libdl.so.2",           "librt.so.1",        "libutil.so.1",   "libresolv.so.2", "libstdc++.so.6",
        "libgcc_s.so.1",        "libc++.so.1",       "libc++abi.so.1", "libunwind.so.1", "libnss_files.so.2",
        "libnss_dns.so.2",      "libnss_compat.so.2"};
    for (size_t i = 0; i < DH_ARRAY_LEN(names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Its soname, or the last component of its path if it has none. */
static const char *soname_of(Elf *elf, const char *path)
{
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        GElf_Shdr header;
        Elf_Data *data =
            gelf_getshdr(s, &header) && header.sh_type == SHT_DYNAMIC ? elf_getdata(s, NULL) : NULL;
        for (int i = 0; data && header.sh_entsize && (size_t)i < data->d_size / header.sh_entsize; i++) {
            GElf_Dyn dyn;
            const char *name = gelf_getdyn(data, i, &dyn) && dyn.d_tag == DT_SONAME
                                   ? elf_strptr(elf, header.sh_link, dyn.d_un.d_val)
                                   : NULL;
            if (name)
                return name;
        }
    }
    return dh_path_base(path);
}

enum { LOOP = 8 }; /* instructions */

/* Does this loop, whose last instruction jumps to its first, only look at memory and compute nothing? Then
 * only another thread can end it. */
static bool is_wait(const struct dh_chase_code *loop, size_t n)
{
    bool reads = false;
    for (size_t i = 0; i + 1 < n; i++) {
        if (!loop[i].looks)
            return false;
        reads |= loop[i].n_operands > 0;
        for (size_t k = 0; k + 1 < n && loop[i].n_operands; k++)
            if (loop[k].into != DH_CONTROL_NONE &&
                (loop[k].into == loop[i].operands[0].base || loop[k].into == loop[i].operands[0].index))
                return false; /* it walks a list */
    }
    return reads;
}

/* The same for the loop that the last of these instructions closes, if it does. */
static bool ends_wait(const struct dh_chase_code *recent, size_t n)
{
    int64_t back = 0;
    for (size_t k = 1; k <= n && recent[n - 1].branch && recent[n - 1].distance < 0; k++) {
        back -= recent[n - k].length;
        if (back == recent[n - 1].distance)
            return is_wait(recent + n - k, k);
    }
    return false;
}

/* The sign found in a stretch of code; NULL: none. After data in the code, decoding soon resynchronises. */
static const char *look_for_sign(const u8 *bytes, size_t n)
{
    static const char *const signs[] = {[DH_CHASE_CODE_LOCKED] = "has atomic accesses of its own",
                                        [DH_CHASE_CODE_FENCE] = "has fences of its own",
                                        [DH_CHASE_CODE_WAITS] = "waits for other threads in loops of its own",
                                        [DH_CHASE_CODE_KERNEL] = "makes system calls by itself"};
    struct dh_chase_code recent[LOOP];
    size_t n_recent = 0;
    for (size_t i = 0; i < n;) {
        struct dh_chase_code code;
        size_t left = n - i < DH_CHASE_CODE_MAX ? n - i : DH_CHASE_CODE_MAX;
        bool read = dh_chase_code_read_any(bytes + i, left, &code) == 0;
        if (read && code.sync != DH_CHASE_CODE_QUIET)
            return signs[code.sync];
        if (n_recent == LOOP)
            memmove(recent, recent + 1, --n_recent * sizeof(*recent));
        n_recent = read ? n_recent : 0;
        if (read)
            recent[n_recent++] = code;
        if (read && ends_wait(recent, n_recent))
            return signs[DH_CHASE_CODE_WAITS];
        i += read ? code.length : 1;
    }
    return NULL;
}

static const char *look_at_segments(Elf *elf)
{
    size_t n, size;
    const char *all = elf_rawfile(elf, &size), *sign = NULL;
    if (!all || elf_getphdrnum(elf, &n) != 0)
        return "cannot be read";
    for (size_t i = 0; i < n && !sign; i++) {
        GElf_Phdr p;
        if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD && p.p_flags & PF_X && p.p_offset <= size &&
            p.p_filesz <= size - p.p_offset)
            sign = look_for_sign((const u8 *)all + p.p_offset, p.p_filesz);
    }
    return sign;
}

/* NULL: it cannot be read, or is no ELF file. */
static Elf *open_elf(const char *path, int *ret_fd)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf *elf = fd >= 0 && elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    if (elf && elf_kind(elf) == ELF_K_ELF) {
        *ret_fd = fd;
        return elf;
    }
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return NULL;
}

static const char *look_at(const struct dh_chase_loaded *l, const char *path)
{
    int fd;
    Elf *elf = open_elf(path, &fd);
    if (!elf)
        return "cannot be read";
    const char *name = soname_of(elf, path);
    const char *sign = is_system(name) || dh_chase_loaded_is_trusted(l, name) ? NULL : look_at_segments(elf);
    elf_end(elf);
    close(fd);
    return sign;
}

/* ---- All that is mapped ---- */

static bool is_own_region(const struct dh_chase_target *t, u64 lo)
{
    for (int r = 0; r < DH_CONTROL_REGIONS; r++)
        if (t->regions[r] && lo - t->regions[r] < DH_CONTROL_REGION_SIZE)
            return true;
    return false;
}

/* A mapping of machine code; path: of the file, "" if there is none. NULL, or a sentence. */
typedef const char *check_fn(struct dh_chase_loaded *l, const char *path);

static const char *check_line(struct dh_chase_loaded *l, const struct dh_chase_target *t, const char *line,
                              check_fn *check)
{
    u64 lo, hi;
    char rights[8], path[4096] = "";
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %4095[^\n]", &lo, &hi, rights, path) < 3 ||
        !strchr(rights, 'x') || path[0] == '[' || is_own_region(t, lo))
        return NULL;
    return check(l, path);
}

static const char *check_all(struct dh_chase_loaded *l, const struct dh_chase_target *t, check_fn *check)
{
    size_t n;
    char *maps = dh_chase_target_maps(t->pid, &n), *line = maps;
    const char *why = NULL;
    for (char *end; maps && !why && (end = memchr(line, '\n', n - (size_t)(line - maps))); line = end + 1) {
        *end = 0;
        why = check_line(l, t, line, check);
    }
    free(maps);
    return why;
}

static const char *check_order(struct dh_chase_loaded *l, const char *path)
{
    if (strcmp(path, l->program) == 0)
        return NULL;
    if (!path[0])
        return "it has made machine code while it runs, which may order threads unseen";
    if (dh_map_get(&l->known, path, strlen(path)))
        return NULL;
    const char *sign = dh_chase_loaded_is_trusted(l, path) ? NULL : look_at(l, path);
    if (sign)
        return dh_arena_printf(
            l->arena,
            "its library '%s' %s, and may order threads unseen; link what it does into the "
            "program by 'deadheat cc --dh-mode=field', or give --trust=%s if it orders no "
            "threads of the program",
            path, sign, dh_path_base(path));
    dh_map_put(&l->known, path, strlen(path), l);
    return NULL;
}

const char *dh_chase_loaded_check(struct dh_chase_loaded *l, const struct dh_chase_target *t)
{
    return check_all(l, t, check_order);
}

/* Code that belongs to no file, or to one that is gone, is not looked at: a compiler at run time makes it,
 * and calls libc. */
static const char *check_signals(struct dh_chase_loaded *l, const char *path)
{
    static const char own[] = "libdeadheat-field.so";
    struct dh_chase_syscall call;
    int fd;
    if (!path[0] || dh_map_get(&l->silent, path, strlen(path)))
        return NULL;
    Elf *elf = open_elf(path, &fd);
    if (!elf)
        return NULL;
    const char *name = soname_of(elf, path);
    bool found = !is_system(name) && strcmp(name, own) != 0 && dh_chase_syscalls_find(elf, &call);
    elf_end(elf);
    close(fd);
    if (found)
        return dh_arena_printf(
            l->arena,
            "'%s' makes %s%s directly, not through libc, at 0x%llx; it may set the action or "
            "the mask of SIGILL unseen, and then a breakpoint would kill the program",
            path, call.name ? "the system call " : "system calls", call.name ? call.name : "",
            (unsigned long long)call.address);
    dh_map_put(&l->silent, path, strlen(path), l);
    return NULL;
}

const char *dh_chase_loaded_signals(struct dh_chase_loaded *l, const struct dh_chase_target *t)
{
    return check_all(l, t, check_signals);
}
