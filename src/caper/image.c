/*
 * image.c - see image.h. Nothing in the file is trusted.
 */
#include "caper/image.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

Elf_Data *dh_caper_image_section(Elf *elf, const char *wanted)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        Elf_Data *data = name && strcmp(name, wanted) == 0 ? elf_rawdata(section, NULL) : NULL;
        if (data && data->d_buf)
            return data;
    }
    return NULL;
}

const char *dh_caper_image_id(struct dh_arena *arena, Elf *elf, u8 ret[DH_PROGRAM_BUILD_ID])
{
    static const char digits[] = "0123456789abcdef", name[] = "GNU";
    Elf_Data *data = dh_caper_image_section(elf, ".note.gnu.build-id");
    GElf_Nhdr note;
    size_t owner, id;
    if (!data || gelf_getnote(data, 0, &note, &owner, &id) == 0 || note.n_type != NT_GNU_BUILD_ID ||
        note.n_descsz == 0 || note.n_descsz > 64 || note.n_namesz != sizeof(name) ||
        memcmp((const char *)data->d_buf + owner, name, sizeof(name)) != 0)
        return NULL;
    const u8 *bytes = (const u8 *)data->d_buf + id;
    char *text = dh_arena_alloc(arena, 2 * (size_t)note.n_descsz + 1);
    for (size_t i = 0; i < note.n_descsz; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
        if (i < DH_PROGRAM_BUILD_ID)
            ret[i] = bytes[i];
    }
    return text;
}

const char *dh_caper_image_read(struct dh_arena *arena, const char *path,
                                const char *(*read)(struct dh_arena *arena, Elf *elf, void *arg), void *arg)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return dh_arena_printf(arena, "cannot be read: %s", strerror(errno));
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    const char *why =
        elf ? read(arena, elf, arg) : dh_arena_printf(arena, "cannot be read: %s", elf_errmsg(-1));
    if (elf)
        elf_end(elf);
    close(fd);
    return why;
}
