/*
 * object.c - opens an ELF file for symbolising, and checks that it is the one that was executed.
 */
#include "report/object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *debuginfo_path; /* NULL: libdwfl's default places (beside the file, .debug/, /usr/lib/debug) */

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debuginfo_path,
};

/* Only its first bytes are read, so that libdwfl is never given a directory or a pipe. */
static int check_file(const char *path)
{
    struct stat st;
    char magic[4] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    bool elf = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && read(fd, magic, 4) == 4 &&
               memcmp(magic, "\177ELF", 4) == 0;
    close(fd);
    return elf ? 0 : -ENOEXEC;
}

static bool same_build(Dwfl_Module *module, const char *want)
{
    const unsigned char *bits;
    GElf_Addr addr;
    int n = dwfl_module_build_id(module, &bits, &addr);
    if (!want[0])
        return true;
    if (n <= 0 || strlen(want) != (size_t)n * 2)
        return false;
    for (int i = 0; i < n; i++) {
        char hex[3];
        snprintf(hex, sizeof(hex), "%02x", bits[i]);
        if (strncmp(hex, want + 2 * i, 2) != 0)
            return false;
    }
    return true;
}

struct dh_object *dh_object_open(struct dh_arena *arena, const char *path, const char *build_id,
                                 const char **ret_why)
{
    struct dh_object *o = dh_arena_alloc(arena, sizeof(*o));
    o->arena = arena;
    o->path = path;
    dh_map_init(&o->types, arena);
    dh_map_init(&o->type_names, arena);
    *ret_why = NULL;
    if (path[0] != '/' && path[0] != '.')
        return o; /* [vdso] and the like: nothing to read or report */
    int rc = check_file(path);
    if (rc) {
        *ret_why = dh_arena_printf(arena, "cannot read %s (%s); its functions are shown as offsets", path,
                                   rc == -ENOEXEC ? "not an ELF file" : strerror(-rc));
        return o;
    }
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (!dwfl)
        dh_util_no_memory();
    Dwfl_Module *module = dwfl_report_offline(dwfl, path, path, -1);
    dwfl_report_end(dwfl, NULL, NULL);
    GElf_Addr bias;
    if (!module || !dwfl_module_getelf(module, &bias)) {
        *ret_why = dh_arena_printf(arena, "cannot read %s (%s); its functions are shown as offsets", path,
                                   dwfl_errmsg(-1));
        dwfl_end(dwfl);
        return o;
    }
    if (!same_build(module, build_id)) {
        *ret_why = dh_arena_printf(arena,
                                   "%s is not the file that ran (its build id differs: it was rebuilt); "
                                   "its functions are shown as offsets",
                                   path);
        dwfl_end(dwfl);
        return o;
    }
    o->dwfl = dwfl;
    o->module = module;
    o->elf_bias = bias;
    o->dwarf = dwfl_module_getdwarf(module, &bias);
    o->dwarf_bias = o->dwarf ? bias : 0;
    if (o->dwarf)
        dh_object_read_units(o);
    return o;
}

void dh_object_close(struct dh_object *o)
{
    for (size_t i = 0; i < o->n_units; i++) {
        free(o->units[i].functions);
        free(o->units[i].globals);
    }
    free(o->units);
    free(o->ranges);
    for (int which = 0; which < DH_OBJECT_KINDS; which++)
        free(o->symbols[which]);
    dh_map_done(&o->types);
    dh_map_done(&o->type_names);
    if (o->dwfl)
        dwfl_end(o->dwfl);
}
