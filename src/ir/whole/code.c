/*
 * code.c - see code.h. Two units of the same name may have functions of the same name: then a change of
 * either is a change of both.
 */
#include "ir/whole/code.h"

#include <stdlib.h>
#include <string.h>

#include "util/arena.h"

static const char *text_of(struct dh_w_codes *c, LLVMValueRef value)
{
    unsigned len = 0;
    const char *text = value == NULL ? NULL : LLVMGetMDString(value, &len);
    return text == NULL ? NULL : dh_arena_dup(&c->arena, text, len);
}

static u64 *entry(struct dh_w_codes *c, const char *key, bool *ret_is_new)
{
    u64 *known = dh_map_get(&c->of, key, strlen(key));
    *ret_is_new = known == NULL;
    if (known == NULL) {
        known = dh_arena_alloc(&c->arena, sizeof *known);
        dh_map_put(&c->of, key, strlen(key), known);
    }
    return known;
}

static const char *key_of(struct dh_arena *arena, const char *unit, const char *function)
{
    return dh_arena_printf(arena, "%s\n%s", unit, function);
}

static void add(struct dh_w_codes *c, const char *unit, const char *function, u64 hash)
{
    bool is_new;
    u64 *of_unit = entry(c, key_of(&c->arena, unit, function), &is_new);
    *of_unit = is_new ? hash : *of_unit + hash; /* a sum, since their order does not matter */
    u64 *of_name = entry(c, key_of(&c->arena, "", function), &is_new);
    *of_name = is_new || *of_name == hash ? hash : 0;
}

void dh_w_codes_init(struct dh_w_codes *c, LLVMModuleRef m)
{
    unsigned n = LLVMGetNamedMetadataNumOperands(m, DH_CODE_METADATA);
    LLVMValueRef *all = dh_util_alloc((n + 1) * sizeof(LLVMValueRef));
    *c = (struct dh_w_codes){0};
    dh_map_init(&c->of, &c->arena);
    if (n > 0)
        LLVMGetNamedMetadataOperands(m, DH_CODE_METADATA, all);
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef part[3];
        if (LLVMGetMDNodeNumOperands(all[i]) != DH_ARRAY_LEN(part))
            continue;
        LLVMGetMDNodeOperands(all[i], part);
        const char *unit = text_of(c, part[0]), *function = text_of(c, part[1]), *hash = text_of(c, part[2]);
        if (unit != NULL && function != NULL && hash != NULL)
            add(c, unit, function, strtoull(hash, NULL, 16));
    }
    free(all);
}

void dh_w_codes_done(struct dh_w_codes *c)
{
    dh_map_done(&c->of);
    dh_arena_done(&c->arena);
}

u64 dh_w_codes_of(const struct dh_w_codes *c, const char *unit, const char *function)
{
    struct dh_arena scratch = {0};
    const char *key = key_of(&scratch, unit, function);
    const u64 *known = dh_map_get(&c->of, key, strlen(key));
    if (known == NULL) {
        key = key_of(&scratch, "", function);
        known = dh_map_get(&c->of, key, strlen(key));
    }
    u64 hash = known == NULL ? 0 : *known;
    dh_arena_done(&scratch);
    return hash;
}
