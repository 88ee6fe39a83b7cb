/*
 * record_symbols.h - stores the functions and lines of a recording's places in the recording itself, so that
 * it can be read where the program is not available.
 */
#ifndef DH_CLI_RECORD_SYMBOLS_H
#define DH_CLI_RECORD_SYMBOLS_H

#include "event/dht_code.h"
#include "event/dht_write.h"

/* Reads back the list of modules from what was written to fd so far (if places were lost: all of it), and
 * adds the chunk. An unknown place is left out; an error is not a failure. */
void dh_record_symbols(struct dh_dht_writer *w, int fd, const struct dh_dht_places *places);

#endif
