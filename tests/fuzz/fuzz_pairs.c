/*
 * fuzz_pairs.c - any bytes as a table of static pairs.
 *
 * The checksum would hide the reader from the fuzzer, so the input is the body and gets its head here. What
 * is accepted must be written again as the very same bytes.
 */
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "report/pairs.h"
#include "report/pairs_code.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void try_read(const u8 *bytes, size_t len)
{
    struct dh_pairs *p = NULL;
    const char *why = NULL;
    if (dh_pairs_read(bytes, len, &p, &why) != 0) {
        DH_CHECK(why && !p);
        return;
    }
    u8 *again;
    size_t n;
    dh_pairs_write(p, &again, &n);
    DH_CHECK(n <= len && memcmp(bytes, again, n) == 0);
    for (u32 i = 0; i < p->n_sites; i++)
        DH_CHECK(dh_pairs_find_site(p, p->sites[i].id) == i);
    free(again);
    dh_pairs_free(p);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    try_read(data, size);
    u8 *bytes = calloc(1, DH_PAIRS_AT_BODY + size);
    if (!bytes)
        return 0;
    u64 length = size, hash = XXH64(data, size, 0);
    memcpy(bytes, DH_PAIRS_MAGIC, sizeof(DH_PAIRS_MAGIC));
    bytes[DH_PAIRS_AT_VERSION] = DH_PAIRS_VERSION;
    memcpy(bytes + DH_PAIRS_AT_LENGTH, &length, 8);
    memcpy(bytes + DH_PAIRS_AT_HASH, &hash, 8);
    if (size)
        memcpy(bytes + DH_PAIRS_AT_BODY, data, size);
    try_read(bytes, DH_PAIRS_AT_BODY + size);
    free(bytes);
    return 0;
}
