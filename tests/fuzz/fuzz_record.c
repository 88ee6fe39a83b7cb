/*
 * fuzz_record.c - any bytes as a stream of race records, through the whole reporter, in all its forms.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/reporter.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    static FILE *nowhere;
    static int file = -1;
    if (!nowhere) {
        nowhere = fopen("/dev/null", "w");
        file = memfd_create("records", MFD_CLOEXEC);
    }
    if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
        return 0;
    for (int form = 0; form <= DH_PRINT_FORMATS + 1; form++) {
        struct dh_reporter_options options = {
            .out = nowhere,
            .messages = nowhere,
            .input = "in",
            .suppressions = "",
            .print = true,
            .format = form < DH_PRINT_FORMATS ? (enum dh_print_format)form : DH_PRINT_TEXT,
            .streaming = form == DH_PRINT_FORMATS,
            .resolve = form > DH_PRINT_FORMATS,
            .all = form == DH_PRINT_JSON,
            .color = form == DH_PRINT_TEXT,
            .source = true,
            .stats = true,
        };
        struct dh_reporter_result result;
        struct dh_reporter *r = dh_reporter_new(&options);
        lseek(file, 0, SEEK_SET);
        dh_reporter_read(r, file, "records");
        dh_reporter_finish(r, &result);
    }
    return 0;
}
