/*
 * text.h - internal to the text back end: text.c prints one finding in full, text_list.c the document around
 * findings, and findings in few lines.
 */
#ifndef DH_REPORT_TEXT_H
#define DH_REPORT_TEXT_H

#include "report/words.h"

/* Escape sequences, all "" without colour. */
struct dh_text_palette {
    const char *title, *strong, *place, *dim, *mark, *off;
};
const struct dh_text_palette *dh_text_palette(const struct dh_print *p);

void dh_text_full(struct dh_print *p, const struct dh_finding *f);
void dh_text_variants(struct dh_print *p, const struct dh_finding *f);

#endif
