/*
 * text.h - text that came from elsewhere, made fit to be shown.
 *
 * Names of functions, variables, files and modules are read from binaries, traces and records that anybody
 * may have written, and lines of source are no better. On a terminal a control character in them could move
 * the cursor, hide what was printed before, or answer as if it had been typed; one that turns the direction
 * of writing could make a name look like another. So whatever is printed for people, and is not our own,
 * passes through here: such characters become question marks, one for each of their bytes.
 *
 * Control characters are those of ASCII and of Latin-1 (which terminals know as two bytes of UTF-8 and as
 * one), the separators of lines and paragraphs, and those for the direction of writing. All other bytes stay
 * as they are, whether they are UTF-8 or not.
 */
#ifndef DH_UTIL_TEXT_H
#define DH_UTIL_TEXT_H

#include <stdio.h>

#include "util/arena.h"

/* In place. The length does not change. */
void dh_text_tame(char *s, size_t n);
/* The same in a copy, or s itself if there is nothing to change. */
const char *dh_text_shown(struct dh_arena *arena, const char *s);
/* In a copy: bytes that are no character of UTF-8 become U+FFFD; all others stay, harmful or not. */
char *dh_text_utf8(struct dh_arena *arena, const char *s, size_t n);
/* A name, printed. */
void dh_text_put(FILE *out, const char *s);
/* A part of a line of source, printed: tabs stay. */
void dh_text_put_line(FILE *out, const char *s, size_t n);

#endif
