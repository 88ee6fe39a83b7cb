/*
 * build.c - see build.h. Nothing in the file is trusted.
 */
#include "caper/build.h"

#include <string.h>

#include "base/filter.h"
#include "caper/image.h"

/* Every group is complete, and refers to sites of the table. */
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
    Elf_Data *data = dh_caper_image_section(elf, DH_CAPER_HEAD),
             *groups = dh_caper_image_section(elf, DH_CAPER_GROUPS);
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
    Elf_Data *caper = dh_caper_image_section(elf, DH_CAPER_HEAD),
             *tells = dh_caper_image_section(elf, DH_ALIAS_HEAD);
    struct dh_alias_head head;
    if (!dh_caper_image_section(elf, DH_PAIRS_SECTION))
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

static const char *read_elf(struct dh_arena *arena, Elf *elf, void *arg)
{
    struct dh_caper_build *b = arg;
    const char *why = NULL;
    Elf_Data *data = dh_caper_image_section(elf, DH_PAIRS_SECTION);
    if (elf_kind(elf) != ELF_K_ELF)
        return "is no program: Caper needs the file that 'deadheat cc --dh-mode=caper' has linked (a script "
               "that starts it can be run with --program=FILE)";
    if ((why = check_kind(elf, b->alias)))
        return why;
    Elf_Data *sources = dh_caper_image_section(elf, DH_SOURCES);
    if (!(b->id_text = dh_caper_image_id(arena, elf, b->id)))
        return "has no build id, by which a state would know it again: link it with -Wl,--build-id";
    if (dh_pairs_read(data->d_buf, data->d_size, &b->table, &why) != 0)
        return dh_arena_printf(arena, "has a table of pairs that cannot be read: %s", why);
    b->sources = sources ? dh_arena_dup(arena, sources->d_buf, sources->d_size) : "";
    why = b->alias ? NULL : read_groups(arena, elf, b);
    if (why)
        dh_pairs_free(b->table);
    return why;
}

int dh_caper_build_read(struct dh_arena *arena, const char *path, bool alias, struct dh_caper_build *ret,
                        const char **ret_why)
{
    struct dh_caper_build b = {.path = path, .alias = alias};
    const char *why = dh_caper_image_read(arena, path, read_elf, &b);
    if (why) {
        *ret_why = why;
        return -1;
    }
    *ret = b;
    return 0;
}

static const char *read_bytes(struct dh_arena *arena, Elf *elf, void *arg)
{
    struct dh_caper_build *b = arg;
    Elf_Data *data = elf_kind(elf) == ELF_K_ELF ? dh_caper_image_section(elf, DH_PAIRS_SECTION) : NULL;
    if (!data)
        return "holds no table of pairs: build it with 'deadheat cc --dh-mode=field'";
    if (!(b->id_text = dh_caper_image_id(arena, elf, b->id)))
        return "has no build id, by which it would be known again: link it with -Wl,--build-id";
    b->bytes = (const u8 *)dh_arena_dup(arena, data->d_buf, data->d_size);
    b->n_bytes = data->d_size;
    return NULL;
}

int dh_caper_build_bytes(struct dh_arena *arena, const char *path, struct dh_caper_build *ret,
                         const char **ret_why)
{
    struct dh_caper_build b = {.path = path};
    const char *why = dh_caper_image_read(arena, path, read_bytes, &b);
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
