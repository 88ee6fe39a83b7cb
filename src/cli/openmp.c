/*
 * openmp.c - programs that use LLVM's OpenMP: a tool of LLVM's, libarcher, reports the synchronisation of the
 * OpenMP runtime to deadheat; libomp loads it if OMP_TOOL_LIBRARIES names it.
 *
 * The two belong together: the tool is searched next to the libomp that the program will load, and then in
 * the LLVM that deadheat was built with. What a launcher will start cannot be known; there the tool is named
 * just in case. It does nothing in programs that are not instrumented.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "util/arena.h"
#include "util/path.h"

/* Where the dynamic linker looks, apart from LD_LIBRARY_PATH. */
static const char system_directories[] =
    "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/usr/local/lib:/lib64:/usr/lib64:/lib:/usr/lib";

static bool is_libomp(const char *name)
{
    return strncmp(name, "libomp.so", 9) == 0 || strncmp(name, "libomp-", 7) == 0 ||
           strncmp(name, "libiomp5.so", 11) == 0;
}

/* The name in a dynamic section, or NULL. */
static const char *needed_libomp(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t n = data && header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
    for (size_t i = 0; i < n && i <= INT_MAX; i++) {
        GElf_Dyn d;
        if (!gelf_getdyn(data, (int)i, &d))
            break;
        const char *name = d.d_tag == DT_NEEDED ? elf_strptr(elf, header->sh_link, d.d_un.d_val) : NULL;
        if (name && is_libomp(name))
            return name;
    }
    return NULL;
}

/* The libomp that the program at path depends on, or NULL. */
static const char *libomp_of(struct dh_arena *arena, const char *path)
{
    const char *found = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    Elf_Scn *section = NULL;
    while (elf && elf_kind(elf) == ELF_K_ELF && !found && (section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNAMIC)
            found = needed_libomp(elf, section, &header);
    }
    found = found ? dh_arena_strdup(arena, found) : NULL;
    if (elf)
        elf_end(elf);
    close(fd);
    return found;
}

/* libarcher.so next to the real file of DIRECTORY/libomp, or NULL. */
static char *beside(struct dh_arena *arena, const char *directory, const char *libomp)
{
    char real[PATH_MAX];
    if (!realpath(dh_path_join(arena, directory, libomp), real))
        return NULL;
    *strrchr(real, '/') = '\0';
    char *archer = dh_path_join(arena, real, "libarcher.so");
    return access(archer, R_OK) == 0 ? archer : NULL;
}

static char *find_archer(struct dh_arena *arena, const char *libomp)
{
    const char *own = getenv("LD_LIBRARY_PATH");
    char *all = dh_arena_printf(arena, "%s:%s", own ? own : "", system_directories), *rest = NULL;
    for (char *d = strtok_r(all, ":", &rest); d; d = strtok_r(NULL, ":", &rest)) {
        char *archer = beside(arena, d, libomp);
        if (archer)
            return archer;
    }
    return access(DH_LLVM_LIBDIR "/libarcher.so", R_OK) == 0
               ? dh_arena_strdup(arena, DH_LLVM_LIBDIR "/libarcher.so")
               : NULL;
}

/* The tool warns unless it is told that ThreadSanitizer ignores libomp's own calls; deadheat always does. */
static void silence_archer(struct dh_arena *arena)
{
    static const char option[] = "ignore_noninstrumented_modules";
    const char *given = getenv("TSAN_OPTIONS");
    if (given && strstr(given, option))
        return;
    if (setenv("TSAN_OPTIONS",
               dh_arena_printf(arena, "%s%s%s=1", given ? given : "", given && *given ? ":" : "", option),
               1) != 0)
        dh_util_no_memory();
}

static void name_archer(struct dh_arena *arena, const char *archer)
{
    silence_archer(arena);
    if (setenv("OMP_TOOL_LIBRARIES", archer, 1) != 0)
        dh_util_no_memory();
}

void dh_cli_prepare_openmp(struct dh_arena *arena, const char *command, const char *name)
{
    const char *path = dh_path_find_program(arena, name);
    const char *libomp = path ? libomp_of(arena, path) : NULL;
    if (!libomp || getenv("OMP_TOOL_LIBRARIES")) /* the user has decided */
        return;
    const char *archer = find_archer(arena, libomp);
    if (!archer) {
        fprintf(stderr,
                "deadheat %s: warning: '%s' uses OpenMP, and LLVM's libarcher.so, which tells what that "
                "orders, is "
                "not installed: expect reports of races that are none (Debian has it in libomp-19-dev)\n",
                command, name);
        return;
    }
    name_archer(arena, archer);
}

void dh_cli_prepare_openmp_below(struct dh_arena *arena)
{
    const char *archer = getenv("OMP_TOOL_LIBRARIES") ? NULL : find_archer(arena, "libomp.so.5");
    if (archer)
        name_archer(arena, archer);
}
