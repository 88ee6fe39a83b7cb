/*
 * fuzz_pairs.c - any bytes as a table of static pairs.
 *
 * The checksum would hide the reader from the fuzzer, so the input is the body and gets its head here. What
 * is accepted must be written again as the very same bytes, unless it is of an earlier version.
 */
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "report/pairs.h"
#include "report/pairs_code.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void try_read(const u8 *bytes, size_t len, u8 version)
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
    DH_CHECK(version != DH_PAIRS_VERSION || (n <= len && memcmp(bytes, again, n) == 0));
    for (u32 i = 0; i < p->n_sites; i++)
        DH_CHECK(dh_pairs_find_site(p, p->sites[i].id) == i);
    free(again);
    dh_pairs_free(p);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    try_read(data, size, size > DH_PAIRS_AT_VERSION ? data[DH_PAIRS_AT_VERSION] : 0);
    u8 *bytes = calloc(1, DH_PAIRS_AT_BODY + size);
    if (!bytes)
        return 0;
    u64 length = size, hash = XXH64(data, size, 0);
    memcpy(bytes, DH_PAIRS_MAGIC, sizeof(DH_PAIRS_MAGIC));
    memcpy(bytes + DH_PAIRS_AT_LENGTH, &length, 8);
    memcpy(bytes + DH_PAIRS_AT_HASH, &hash, 8);
    if (size)
        memcpy(bytes + DH_PAIRS_AT_BODY, data, size);
    for (u8 version = DH_PAIRS_OLDEST; version <= DH_PAIRS_VERSION; version++) {
        bytes[DH_PAIRS_AT_VERSION] = version;
        try_read(bytes, DH_PAIRS_AT_BODY + size, version);
    }
    free(bytes);
    return 0;
}
