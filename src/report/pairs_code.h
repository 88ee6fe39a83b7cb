/*
 * pairs_code.h - the bytes of a table of pairs, for its writer and its reader.
 *
 *   offset  bytes
 *        0  8      "DHPAIRS" and a zero
 *        8  4      version, little-endian
 *       12  4      zero
 *       16  8      length of the body
 *       24  8      XXH64 of the body, seed 0
 *       32  ...    the body
 *
 * The body is a sequence of numbers with 7 bits per byte, the lowest first, the high bit set on all bytes of
 * a number but the last; no number is longer than necessary. In this order, each part preceded by its count:
 *   strings      length, bytes (the first string, "", is not written; nor is the first list, the empty one)
 *   lists        count, items
 *   head         program, producer, options (strings); bit 0: no threads
 *   sites        module, function, host, place, access, size, ordinal, code (not in version 5)
 *   variables    storage, name, path, type, function, place
 *   locks        kind << 1 | single, name, place
 *   entries      kind << 1 | many, function, creator, api, place
 *   pairs        first site, second site - first, locks, entries, alike of both, variables, flags,
 *                reasons, note
 *   assumptions  name, sentence, count, examples
 *   phases       name, microseconds, KiB
 *   counters     name, value
 * A place is file, dir, line, column. Strings and lists are written as indexes. Ids are not written: they can
 * be computed.
 */
#ifndef DH_REPORT_PAIRS_CODE_H
#define DH_REPORT_PAIRS_CODE_H

#include "base/base.h"

#define DH_PAIRS_MAGIC "DHPAIRS" /* 8 bytes with the zero */
enum {
    DH_PAIRS_AT_VERSION = 8,
    DH_PAIRS_AT_LENGTH = 16,
    DH_PAIRS_AT_HASH = 24,
    DH_PAIRS_AT_BODY = 32,
};

#endif
