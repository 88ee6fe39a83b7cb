/*
 * build.c - see build.h. Nothing in the file is trusted.
 */
#include "caper/build.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

static Elf_Data *find_section(Elf *elf, const char *wanted)
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

static bool read_id(struct dh_arena *arena, Elf *elf, struct dh_caper_build *b)
{
    static const char digits[] = "0123456789abcdef", name[] = "GNU";
    Elf_Data *data = find_section(elf, ".note.gnu.build-id");
    GElf_Nhdr note;
    size_t owner, id;
    if (!data || gelf_getnote(data, 0, &note, &owner, &id) == 0 || note.n_type != NT_GNU_BUILD_ID ||
        note.n_descsz == 0 || note.n_descsz > 64 || note.n_namesz != sizeof(name) ||
        memcmp((const char *)data->d_buf + owner, name, sizeof(name)) != 0)
        return false;
    const u8 *bytes = (const u8 *)data->d_buf + id;
    char *text = dh_arena_alloc(arena, 2 * (size_t)note.n_descsz + 1);
    for (size_t i = 0; i < note.n_descsz; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
        if (i < sizeof(b->id))
            b->id[i] = bytes[i];
    }
    b->id_text = text;
    return true;
}

/* Every group is whole, and names sites of the table. */
static bool are_groups(const u32 *words, u64 n, u32 n_groups, size_t n_sites)
{
    u64 at = 0;
    for (u32 g = 0; g < n_groups; g++) {
        if (at >= n || words[at] > n - at - 1)
            return false;
        for (u32 i = 0; i < words[at]; i++)
            if (words[at + 1 + i] >= n_sites)
                return false;
        at += 1 + (u64)words[at];
    }
    return at == n;
}

static const char *read_groups(struct dh_arena *arena, Elf *elf, struct dh_caper_build *b)
{
    Elf_Data *data = find_section(elf, DH_CAPER_HEAD), *groups = find_section(elf, DH_CAPER_GROUPS);
    struct dh_caper_head head;
    if (!data || data->d_size < sizeof(head))
        return "is no Caper build: build it with 'deadheat cc --dh-mode=caper'";
    memcpy(&head, data->d_buf, sizeof(head));
    if (head.version != DH_CAPER_VERSION)
        return "is a Caper build of another version of deadheat: build it again";
    u64 bytes = groups ? groups->d_size : 0;
    if (head.n_group_words > bytes / sizeof(u32))
        return "is a damaged Caper build: its groups of accesses are not all there";
    u32 *words = dh_arena_array(arena, head.n_group_words + 1, sizeof(*words));
    if (head.n_group_words)
        memcpy(words, groups->d_buf, head.n_group_words * sizeof(*words));
    if (!are_groups(words, head.n_group_words, head.n_groups, b->table->n_sites))
        return "is a damaged Caper build: its groups name accesses that its table of pairs does not have";
    b->n_groups = head.n_groups;
    b->groups = words;
    return NULL;
}

static const char *check_kind(Elf *elf, bool alias)
{
    Elf_Data *caper = find_section(elf, DH_CAPER_HEAD), *tells = find_section(elf, DH_ALIAS_HEAD);
    struct dh_alias_head head;
    if (!find_section(elf, DH_PAIRS_SECTION))
        caper = tells = NULL;
    if (alias && caper)
        return "is a Caper build: for --analysis=alias, build it with 'deadheat cc --dh-mode=caper "
               "--dh-alias'";
    if (!alias && tells)
        return "is an alias build: run it with --analysis=alias, or build it without --dh-alias";
    if (alias && (!tells || tells->d_size < sizeof(head)))
        return "is no alias build: build it with 'deadheat cc --dh-mode=caper --dh-alias'";
    if (!alias && !caper)
        return "is no Caper build: build it with 'deadheat cc --dh-mode=caper'";
    if (!alias)
        return NULL;
    memcpy(&head, tells->d_buf, sizeof(head));
    return head.version == DH_ALIAS_VERSION
               ? NULL
               : "is an alias build of another version of deadheat: build it again";
}

static const char *read_elf(struct dh_arena *arena, Elf *elf, struct dh_caper_build *b)
{
    const char *why = NULL;
    Elf_Data *data = find_section(elf, DH_PAIRS_SECTION);
    if (elf_kind(elf) != ELF_K_ELF)
        return "is no program: Caper needs the file that 'deadheat cc --dh-mode=caper' has linked (a script "
               "that starts it can be run with --program=FILE)";
    if ((why = check_kind(elf, b->alias)))
        return why;
    if (!read_id(arena, elf, b))
        return "has no build id, by which a state would know it again: link it with -Wl,--build-id";
    if (dh_pairs_read(data->d_buf, data->d_size, &b->table, &why) != 0)
        return dh_arena_printf(arena, "has a table of pairs that cannot be read: %s", why);
    why = b->alias ? NULL : read_groups(arena, elf, b);
    if (why)
        dh_pairs_free(b->table);
    return why;
}

/* Has a function look at the file. NULL, or what is wrong with it. */
static const char *look_at(struct dh_arena *arena, const char *path,
                           const char *(*look)(struct dh_arena *arena, Elf *elf, struct dh_caper_build *b),
                           struct dh_caper_build *b)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return dh_arena_printf(arena, "cannot be read: %s", strerror(errno));
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    const char *why =
        elf ? look(arena, elf, b) : dh_arena_printf(arena, "cannot be read: %s", elf_errmsg(-1));
    if (elf)
        elf_end(elf);
    close(fd);
    return why;
}

int dh_caper_build_read(struct dh_arena *arena, const char *path, bool alias, struct dh_caper_build *ret,
                        const char **ret_why)
{
    struct dh_caper_build b = {.path = path, .alias = alias};
    const char *why = look_at(arena, path, read_elf, &b);
    if (why) {
        *ret_why = why;
        return -1;
    }
    *ret = b;
    return 0;
}

static const char *read_bytes(struct dh_arena *arena, Elf *elf, struct dh_caper_build *b)
{
    Elf_Data *data = elf_kind(elf) == ELF_K_ELF ? find_section(elf, DH_PAIRS_SECTION) : NULL;
    if (!data)
        return "holds no table of pairs: build it with 'deadheat cc --dh-mode=field'";
    if (!read_id(arena, elf, b))
        return "has no build id, by which it would be known again: link it with -Wl,--build-id";
    b->bytes = (const u8 *)dh_arena_dup(arena, data->d_buf, data->d_size);
    b->n_bytes = data->d_size;
    return NULL;
}

int dh_caper_build_bytes(struct dh_arena *arena, const char *path, struct dh_caper_build *ret,
                         const char **ret_why)
{
    struct dh_caper_build b = {.path = path};
    const char *why = look_at(arena, path, read_bytes, &b);
    if (why) {
        *ret_why = why;
        return -1;
    }
    *ret = b;
    return 0;
}

void dh_caper_build_done(struct dh_caper_build *b)
{
    dh_pairs_free(b->table);
    b->table = NULL;
}
