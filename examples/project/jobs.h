/*
 * jobs.h - a small library with two counters, one of which is wrong: what guides and tests of build systems
 * build.
 */
#ifndef JOBS_H
#define JOBS_H

#ifdef __cplusplus
extern "C" {
#endif

void jobs_submit(int amount); /* from any thread */
int jobs_total(void);         /* the sum of all amounts */
int jobs_count(void);         /* how many; counted without a lock */

#ifdef __cplusplus
}
#endif

#endif
