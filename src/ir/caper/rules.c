/*
 * rules.c - which rules a test disables (rules.def).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/caper.h"
#include "ir/caper/caper.h"

static const char *const names[] = {
#define DH_CAPER_RULE(id, name) name,
#include "ir/caper/rules.def"
};

static const struct {
    const char *name;
    u32 bit;
} library[] = {
#define DH_CAPER_LIBRARY_RULE(id, name) {name, DH_CAPER_WITHOUT_##id},
#include "ir/caper/rules.def"
};

static bool is_named(const char *rule, const char *name, size_t len)
{
    return strlen(rule) == len && memcmp(rule, name, len) == 0;
}

static void leave_out(struct dh_caper *c, const char *name, size_t len)
{
    for (size_t i = 0; i < DH_ARRAY_LEN(names); i++)
        if (is_named(names[i], name, len)) {
            c->without[i] = true;
            return;
        }
    for (size_t i = 0; i < DH_ARRAY_LEN(library); i++)
        if (is_named(library[i].name, name, len)) {
            c->library_without |= library[i].bit;
            return;
        }
    char sentence[128];
    snprintf(sentence, sizeof(sentence), "deadheat: DEADHEAT_CAPER_WITHOUT: there is no rule '%.*s'",
             len < 40 ? (int)len : 40, name);
    dh_shim_error(c->ir->module, sentence);
}

void dh_caper_rules_read(struct dh_caper *c)
{
    const char *list = getenv("DEADHEAT_CAPER_WITHOUT");
    while (list && *list) {
        size_t len = strcspn(list, ",");
        if (len > 0)
            leave_out(c, list, len);
        list += len + (list[len] == ',');
    }
}

void dh_caper_rules_embed(struct dh_caper *c)
{
    if (c->library_without == 0)
        return;
    LLVMValueRef word = LLVMAddGlobal(c->ir->module, c->ir->u32, DH_CAPER_WITHOUT);
    LLVMSetInitializer(word, LLVMConstInt(c->ir->u32, c->library_without, false));
    LLVMSetGlobalConstant(word, true);
    LLVMSetVisibility(word, LLVMHiddenVisibility);
    dh_shim_keep(c->ir->module, word);
}
