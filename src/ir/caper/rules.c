/*
 * rules.c - which rules a test leaves out (rules.def).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/caper/caper.h"

static const char *const names[] = {
#define DH_CAPER_RULE(id, name) name,
#include "ir/caper/rules.def"
#undef DH_CAPER_RULE
};

static void leave_out(struct dh_caper *c, const char *name, size_t len)
{
    for (size_t i = 0; i < DH_ARRAY_LEN(names); i++)
        if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0) {
            c->without[i] = true;
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
