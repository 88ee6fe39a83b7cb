/*
 * page.h - writing HTML: what the files of the page share.
 *
 * Everything goes through dh_page_put, whose format has one directive for each context in which text may
 * appear. There is no way to write an unescaped name, and attributes are always in double quotes.
 */
#ifndef DH_HIVE_PAGE_H
#define DH_HIVE_PAGE_H

#include "hive/server.h"

struct dh_page {
    FILE *out;
    char *text;
    size_t len;
    struct dh_arena arena;
};

/* Writes the format, with these directives:
 *   %t  a string as text or as (part of) an attribute: whatever it contains, it is shown as characters
 *   %l  the same for a source line: tabs are kept
 *   %p  a sentence with names in backquotes
 *   %u  a string as part of a path or a query
 *   %n  a json_int_t, with commas
 *   %i  a json_int_t, plain
 *   %d  a duration in microseconds, a json_int_t: "12 ms"
 *   %o  a double, as a percentage
 *   %T  a time in microseconds since 1970, a json_int_t; %D its day, without an element around it
 *   %h  constant HTML of our own
 *   %%  a percent sign */
void dh_page_put(struct dh_page *p, const char *format, ...);

/* A page up to the beginning of <main>: its title, and which of the links is the current one. */
void dh_page_begin(struct dh_page *p, const char *title, const char *here);
/* Its end; sends the answer. */
void dh_page_end(struct dh_page *p, struct dh_hive_request *r, unsigned status);

/* A unit's verdict, such as "true race", with its icon. */
void dh_page_verdict(struct dh_page *p, const json_t *unit);
/* The name of a unit: the variable or, if that is not known, the two functions. */
void dh_page_name(struct dh_page *p, const json_t *unit);

/* Members of documents; "" and 0 if absent. */
const char *dh_page_text_in(const json_t *o, const char *member);
json_int_t dh_page_int_in(const json_t *o, const char *member);
double dh_page_real_in(const json_t *o, const char *member);
bool dh_page_true_in(const json_t *o, const char *member);

#endif
