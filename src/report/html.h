/*
 * html.h - internal to the HTML back end: html.c writes findings, html_page.c the page around them.
 * Other pages use the same escaping.
 */
#ifndef DH_REPORT_HTML_H
#define DH_REPORT_HTML_H

#include "report/words.h"

/* n bytes as text of an HTML page or of an attribute in double quotes: tabs and ends of lines are kept,
 * other control characters become question marks (util/text.h). */
void dh_html_text(FILE *out, const char *s, size_t n);
void dh_html_put(FILE *out, const char *s);
/* A sentence in which names are in backquotes. */
void dh_html_prose(FILE *out, const char *s);

/* A page up to its title, "TITLE SUBJECT", and the text below it; the header is left open. */
void dh_html_begin(FILE *out, const char *title, const char *subject, const char *below);
void dh_html_finding(struct dh_print *p, const struct dh_finding *f);

#endif
