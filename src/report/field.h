/*
 * field.h - the field of a heap block that two accesses race on. Internal to field.c and symbol.c.
 */
#ifndef DH_REPORT_FIELD_H
#define DH_REPORT_FIELD_H

#include "report/source.h"
#include "report/symbol.h"

/* source: NULL if source lines are not to be read. Sets type, name, member and the element; false if
 * the field is not known. */
bool dh_field_find(struct dh_arena *arena, struct dh_source *source, const struct dh_symbol_block *block,
                   struct dh_symbol_field *ret);

#endif
