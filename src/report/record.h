/*
 * record.h - reading race records (JSON Lines) into the model.
 */
#ifndef DH_REPORT_RECORD_H
#define DH_REPORT_RECORD_H

#include "report/model.h"

enum dh_record_type {
    DH_RECORD_OTHER,   /* valid, but requires no action: a module, thread or end line, or an unknown type */
    DH_RECORD_PROCESS, /* process is set */
    DH_RECORD_RACE,    /* race is set */
    DH_RECORD_REPEAT,  /* race and count are set: that many further occurrences */
    DH_RECORD_COUNTERS,
    DH_RECORD_SUPPRESSIONS, /* process, file and text are set */
    DH_RECORD_FINDING,      /* process, finding and also are set */
    DH_RECORD_SOURCE,       /* file, text and count, the number of its first line, are set */
    DH_RECORD_UNSAVED,      /* a process could not write all of its records to its output file */
};

struct dh_record {
    enum dh_record_type type;
    struct dh_model_race *race;
    u64 count;
    struct dh_model_process *process;
    const char *file, *text; /* "": none */
    struct dh_finding *finding;
    struct dh_model_process **also; /* other processes in which it was seen */
    size_t n_also;
};

struct dh_record_error {
    char text[256];
};

/* One line, without its newline. 0, or -EINVAL with a sentence: then the model is as before, except
 * for memory. Blank lines are valid. Any bytes are safe to pass. */
int dh_record_read(struct dh_model *m, const char *line, size_t len, struct dh_record *ret,
                   struct dh_record_error *ret_err);

#endif
