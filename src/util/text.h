/*
 * text.h - sanitises untrusted text for display.
 *
 * Names of functions, variables, files and modules are read from binaries, traces and records that anybody
 * may have written, and source lines are no safer. On a terminal, a control character in them could move the
 * cursor, hide earlier output, or make the terminal reply as if something had been typed; a character that
 * changes the writing direction could make a name look like another. So everything printed for people that is
 * not our own passes through here: such characters become question marks, one for each of their bytes.
 *
 * Control characters are those of ASCII and of Latin-1 (which terminals recognise as two bytes of UTF-8 and
 * as one byte), the line and paragraph separators, and those that change the writing direction. All other
 * bytes are unchanged, whether they are UTF-8 or not.
 */
#ifndef DH_UTIL_TEXT_H
#define DH_UTIL_TEXT_H

#include <stdio.h>

#include "util/arena.h"

/* In place. The length does not change. */
void dh_text_tame(char *s, size_t n);
/* The same in a copy, or s itself if there is nothing to change. */
const char *dh_text_shown(struct dh_arena *arena, const char *s);
/* In a copy: bytes that are not valid UTF-8 become U+FFFD; all others are unchanged, harmful or not. */
char *dh_text_utf8(struct dh_arena *arena, const char *s, size_t n);
/* Prints a name. */
void dh_text_put(FILE *out, const char *s);
/* Prints part of a source line; tabs are kept. */
void dh_text_put_line(FILE *out, const char *s, size_t n);

#endif
