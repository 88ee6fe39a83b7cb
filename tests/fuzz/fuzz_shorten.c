/*
 * fuzz_shorten.c - any bytes as the name of a C++ function: the short one is no longer.
 */
#include <stdlib.h>
#include <string.h>

#include "report/symbol.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    struct dh_arena arena = {0};
    char *name = malloc(size + 1); /* of its very size, so that reading behind it shows */
    memcpy(name, data, size);
    name[size] = 0;
    if (strlen(dh_symbol_shorten(&arena, name)) > strlen(name))
        abort();
    free(name);
    dh_arena_done(&arena);
    return 0;
}
