/*
 * fuzz_caper_state.c - any bytes as the state of `deadheat caper`.
 *
 * The checksum would hide the reader from the fuzzer, so the input is also tried with the right last line. What is accepted
 * must be printed as something that is read as the same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caper/state.h"
#include "util/map.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void read_again(struct dh_arena *arena, const struct dh_caper_state *s)
{
    struct dh_caper_state again = {.arena = arena};
    const char *why = NULL;
    size_t len, again_len;
    char *text = dh_caper_state_print(s, &len);
    DH_CHECK(dh_caper_state_parse(&again, text, len, &why) == 0);
    char *twice = dh_caper_state_print(&again, &again_len);
    DH_CHECK(len == again_len && memcmp(text, twice, len) == 0);
    free(text);
    free(twice);
    dh_caper_state_done(&again);
}

static void try_read(const char *text, size_t len)
{
    struct dh_arena arena = {0};
    struct dh_caper_state s = {.arena = &arena};
    const char *why = NULL;
    if (dh_caper_state_parse(&s, text, len, &why) == 0)
        read_again(&arena, &s);
    else
        DH_CHECK(why != NULL);
    dh_caper_state_done(&s);
    dh_arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    char *text = malloc(size + 64);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    try_read(text, size);
    int more = snprintf(text + size, 64, "{\"type\":\"end\",\"checksum\":\"%016" PRIx64 "\"}\n",
                        dh_util_hash(text, size));
    try_read(text, size + (size_t)more);
    free(text);
    return 0;
}
