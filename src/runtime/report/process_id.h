/*
 * process_id.h - the number that every record of a process carries.
 *
 * A pid does not identify a process: containers that write to one volume have the same small pids, and a
 * machine reuses them. So a process draws 128 random bits when it starts, and a forked child draws its own.
 */
#ifndef DH_RUNTIME_REPORT_PROCESS_ID_H
#define DH_RUNTIME_REPORT_PROCESS_ID_H

#include "base/base.h"

enum { DH_PROCESS_ID_DIGITS = 32 };

/* Draw a new one: the process starts, or it is a forked child. */
void dh_process_id_renew(void);
/* In hexadecimal, lower case. */
const char *dh_process_id(void);

#endif
