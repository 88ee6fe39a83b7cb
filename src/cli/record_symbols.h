/*
 * record_symbols.h - the functions and lines of a recording's places, put into the recording itself, so that
 * it can be read where the program is not.
 */
#ifndef DH_CLI_RECORD_SYMBOLS_H
#define DH_CLI_RECORD_SYMBOLS_H

#include "event/dht_code.h"
#include "event/dht_write.h"

/* Reads back the list of modules from what was written to fd so far (if places were lost: all of it), and
 * adds the chunk. A place nobody knows is left out; trouble is no failure. */
void dh_record_symbols(struct dh_dht_writer *w, int fd, const struct dh_dht_places *places);

#endif
