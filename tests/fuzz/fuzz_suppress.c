/*
 * fuzz_suppress.c - any bytes as a suppressions file. What was parsed must match names safely, and the number
 * of bad lines must be the number of complaints.
 */
#include <stdlib.h>

#include "report/suppress.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void complain(void *ctx, u64 line, const char *sentence)
{
    (void)line;
    if (!sentence[0])
        abort();
    ++*(u64 *)ctx;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    struct dh_arena arena = {0};
    struct dh_suppress s;
    u64 complaints = 0;
    dh_suppress_init(&s, &arena);
    if (dh_suppress_parse(&s, (const char *)data, size, complain, &complaints) != complaints)
        abort();
    for (const struct dh_suppress_rule *r = s.rules; r; r = r->next) {
        dh_suppress_match(r->pattern, r->pattern);
        dh_suppress_match(r->pattern, "aab$a^a*b");
    }
    dh_arena_done(&arena);
    return 0;
}
