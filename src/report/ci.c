/*
 * ci.c - findings in the formats of continuous-integration services: GitHub workflow annotations, GitLab code
 * quality reports, and JUnit XML, which nearly all services can display.
 *
 * All three point to one line of one file: that of the access at which the race was found. The message
 * describes the other access.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "report/html.h"
#include "report/json.h"
#include "report/text.h"
#include "util/text.h"

/* The file to point to: the source file, or else the input. */
static const char *file_of(struct dh_print *p, const struct dh_finding *f)
{
    const struct dh_symbol_frame *top = dh_symbol_top(&f->accesses[0].stack);
    return dh_words_path(p, top && top->file ? top->file : p->about->input);
}

static int line_of(const struct dh_finding *f)
{
    const struct dh_symbol_frame *top = dh_symbol_top(&f->accesses[0].stack);
    return top && top->file ? top->line : 0;
}

/* "data race on global `counter`" */
static const char *headline(struct dh_print *p, const struct dh_finding *f)
{
    return dh_arena_printf(&p->scratch, "%s on %s", dh_finding_title(f), dh_finding_subject(&p->scratch, f));
}

static void nothing(struct dh_print *p)
{
    (void)p;
}

/* ---- GitHub -------------------------------------------------------------------------------------------- */

/* A line is a command to the runner, so characters that would end it, or one of its properties, are escaped
 * numerically. */
static void put_escaped(struct dh_print *p, const char *text, const char *special)
{
    for (const char *s = dh_text_utf8(&p->scratch, text, strlen(text)); *s; s++)
        fprintf(p->out, strchr(special, *s) ? "%%%02X" : "%c", (unsigned char)*s);
}

static void github_finding(struct dh_print *p, const struct dh_finding *f)
{
    static const char in_message[] = "%\r\n", in_property[] = "%\r\n:,";
    const struct dh_symbol_frame *top = dh_symbol_top(&f->accesses[0].stack);
    const char *level = dh_words_level(f);
    fprintf(p->out, "::%s ", strcmp(level, "note") == 0 ? "notice" : level);
    fputs("file=", p->out);
    put_escaped(p, file_of(p, f), in_property);
    if (line_of(f))
        fprintf(p->out, ",line=%d", line_of(f));
    if (line_of(f) && top->column)
        fprintf(p->out, ",col=%d", top->column);
    fputs(",title=", p->out);
    put_escaped(p, headline(p, f), in_property);
    fputs("::", p->out);
    put_escaped(p, dh_words_sentence(p, f), in_message);
    fprintf(p->out, "%%0AFingerprint %s%s\n", f->fingerprint.hash, dh_words_seen(p, f));
}

static void github_end(struct dh_print *p)
{
    const char *gap = dh_words_gap(p->about);
    if (!gap)
        return;
    fputs("::error title=deadheat::", p->out);
    put_escaped(p, dh_text_shown(&p->scratch, p->about->input), "%\r\n");
    fprintf(p->out, ": %s\n", gap);
}

const struct dh_print_ops dh_print_as_github = {
    .begin = nothing, .finding = github_finding, .end = github_end};

/* ---- GitLab -------------------------------------------------------------------------------------------- */

static void gitlab_begin(struct dh_print *p)
{
    fputc('[', p->out);
}

static void gitlab_finding(struct dh_print *p, const struct dh_finding *f)
{
    const char *level = dh_words_level(f);
    const char *severity = strcmp(level, "error") == 0  ? "critical"
                           : strcmp(level, "note") == 0 ? "info"
                                                        : "major";
    fputs(p->n ? ",\n" : "\n", p->out);
    dh_json_write(p, json_pack("{so ss ss ss s{so s{si}}}", "description",
                               dh_json_text(dh_words_sentence(p, f)), "check_name", dh_finding_title(f),
                               "fingerprint", f->fingerprint.hash, "severity", severity, "location", "path",
                               dh_json_text(file_of(p, f)), "lines", "begin", line_of(f) ? line_of(f) : 1));
}

static void gitlab_end(struct dh_print *p)
{
    fputs(p->n ? "\n]\n" : "]\n", p->out);
}

const struct dh_print_ops dh_print_as_gitlab = {
    .begin = gitlab_begin, .finding = gitlab_finding, .end = gitlab_end};

/* ---- JUnit --------------------------------------------------------------------------------------------- */

/* XML allows only valid UTF-8, without most control characters and two noncharacters. */
static void put_xml(struct dh_print *p, FILE *out, const char *s)
{
    char *text = dh_text_utf8(&p->scratch, s, strlen(s));
    for (char *at = text; *at; at++) {
        if ((unsigned char)*at < ' ' && *at != '\n' && *at != '\t')
            *at = '?';
        else if (strncmp(at, "\xef\xbf\xbe", 3) == 0 || strncmp(at, "\xef\xbf\xbf", 3) == 0)
            memset(at, '?', 3);
    }
    dh_html_put(out, text);
}

/* The counts come before the cases, but are known only after them. */
static void junit_begin(struct dh_print *p)
{
    p->behind = p->out;
    int fd = memfd_create("junit", MFD_CLOEXEC);
    p->out = fd < 0 ? NULL : fdopen(fd, "w+");
    if (!p->out)
        dh_util_no_memory();
}

static void open_case(struct dh_print *p, const char *class, const char *name)
{
    fputs("<testcase classname=\"", p->out);
    put_xml(p, p->out, class);
    fputs("\" name=\"", p->out);
    put_xml(p, p->out, name);
    fputc('"', p->out);
}

/* The report as people read it. */
static char *report_of(struct dh_print *p, const struct dh_finding *f)
{
    FILE *out = p->out;
    char *text = NULL;
    size_t n;
    p->out = open_memstream(&text, &n);
    if (!p->out)
        dh_util_no_memory();
    dh_text_full(p, f);
    if (fclose(p->out) != 0)
        dh_util_no_memory();
    p->out = out;
    return text;
}

static void junit_finding(struct dh_print *p, const struct dh_finding *f)
{
    open_case(p, file_of(p, f), dh_arena_printf(&p->scratch, "%s (%s)", headline(p, f), f->fingerprint.hash));
    fputs(" file=\"", p->out);
    put_xml(p, p->out, file_of(p, f));
    fputs("\">", p->out);
    if (f->baseline == DH_FINDING_KNOWN) {
        fputs("<skipped message=\"in the baseline\"/>", p->out);
    } else {
        char *text = report_of(p, f);
        fprintf(p->out, "<failure type=\"%s\" message=\"", dh_finding_title(f));
        put_xml(p, p->out, dh_words_sentence(p, f));
        fputs("\">", p->out);
        put_xml(p, p->out, text);
        fputs("</failure>", p->out);
        free(text);
    }
    fputs("</testcase>\n", p->out);
}

static void copy(FILE *from, FILE *to)
{
    char bytes[4096];
    bool back = fseek(from, 0, SEEK_SET) == 0;
    for (size_t n; back && (n = fread(bytes, 1, sizeof(bytes), from)) > 0;)
        fwrite(bytes, 1, n, to);
    fclose(from);
}

static void junit_end(struct dh_print *p)
{
    FILE *cases = p->out;
    const char *gap = dh_words_gap(p->about);
    bool extra = !p->n || gap;
    if (extra) { /* a suite without cases is taken for one that did not run */
        open_case(p, p->about->input, "data races");
        if (gap)
            fprintf(p->out, "><error type=\"incomplete\" message=\"%s\"/></testcase>\n", gap);
        else
            fputs("/>\n", p->out);
    }
    p->out = p->behind;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites><testsuite name=\"deadheat ", p->out);
    put_xml(p, p->out, p->about->command);
    fprintf(p->out,
            "\" tests=\"%" PRIu64 "\" failures=\"%" PRIu64 "\" errors=\"%d\" skipped=\"%" PRIu64 "\">\n",
            p->n + extra, p->n - p->n_known, gap != NULL, p->n_known);
    copy(cases, p->out);
    fputs("</testsuite></testsuites>\n", p->out);
}

const struct dh_print_ops dh_print_as_junit = {
    .begin = junit_begin, .finding = junit_finding, .end = junit_end};
