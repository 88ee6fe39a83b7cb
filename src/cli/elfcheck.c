/*
 * elfcheck.c - was this program compiled by deadheat?
 *
 * Every instrumented module calls __dh_module_init_v3 from its constructor, and a program exports it for its
 * shared objects, so the name is in the dynamic symbols even of a stripped program.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "util/output.h"
#include "util/path.h"

static const char marker[] = "__dh_module_init_v3";

static bool table_has_marker(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t n = data && header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
    for (size_t i = 0; i < n && i <= INT32_MAX; i++) {
        GElf_Sym sym;
        if (!gelf_getsym(data, (int)i, &sym))
            break;
        const char *name = elf_strptr(elf, header->sh_link, sym.st_name);
        if (name && strcmp(name, marker) == 0)
            return true;
    }
    return false;
}

static bool has_marker(Elf *elf)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            continue;
        if ((header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB) &&
            table_has_marker(elf, section, &header))
            return true;
    }
    return false;
}

enum dh_elfcheck dh_elfcheck_file(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        /* A program may be executable but not readable: then it cannot be inspected. */
        return errno == EACCES && access(path, X_OK) == 0 ? DH_ELFCHECK_OTHER : DH_ELFCHECK_UNREADABLE;
    enum dh_elfcheck result = DH_ELFCHECK_OTHER;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        close(fd);
        errno = EISDIR;
        return DH_ELFCHECK_UNREADABLE;
    }
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF)
        result = has_marker(elf) ? DH_ELFCHECK_INSTRUMENTED : DH_ELFCHECK_PLAIN;
    if (elf)
        elf_end(elf);
    close(fd);
    return result;
}

int dh_cli_check_program(struct dh_arena *arena, const char *command, const char *name, bool force)
{
    const char *path = dh_path_find_program(arena, name);
    enum dh_elfcheck kind = path ? dh_elfcheck_file(path) : DH_ELFCHECK_UNREADABLE;
    if (kind == DH_ELFCHECK_UNREADABLE) {
        int error = errno;
        struct stat st;
        bool is_here = stat(name, &st) == 0 && S_ISREG(st.st_mode) && access(name, X_OK) == 0;
        if (error == ENOENT && !strchr(name, '/') && is_here)
            dh_cli_fail(command, "there is no program '%s' on the path; did you mean './%s'?", name, name);
        else
            dh_cli_fail(command, "cannot run '%s': %s", name, strerror(error));
        return error == ENOENT ? 127 : 126; /* as shells do */
    }
    if (kind == DH_ELFCHECK_PLAIN && !force)
        return dh_cli_fail(command,
                           "'%s' was not compiled by deadheat, so no race in it could be seen; build it with "
                           "'deadheat cc', or give --force to run it anyway",
                           name);
    dh_output_reads(path);
    return 0;
}
