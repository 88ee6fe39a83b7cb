/*
 * excess.h - the number of traps is limited even if the command gets no processor to end them
 * (docs/design/field.md, "The budget").
 */
#ifndef DH_FIELD_EXCESS_H
#define DH_FIELD_EXCESS_H

#include "field/field.h"

/* A thread has trapped at a breakpoint. May remove all of them. */
void dh_field_excess_count(struct dh_control *c);
/* The program is about to install a system call filter, which may forbid that. */
void dh_field_excess_restrict(void);

#endif
