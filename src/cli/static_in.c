/*
 * static_in.c - where a table of pairs comes from: the section of a program, or the analysis of sources or
 * bitcode.
 *
 * Bitcode is analysed by deadheat-ir, a separate program: deadheat itself does not load LLVM, and bitcode
 * that makes LLVM crash does not make deadheat crash. report/pairs.h describes how the two communicate.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/static.h"
#include "util/lines.h"
#include "util/path.h"
#include "util/text.h"

enum kind { PROGRAM, BITCODE, SOURCE, OTHER, UNREADABLE };

static bool is_source(const char *path)
{
    static const char *const suffixes[] = {".c",   ".i",   ".C",   ".cc",  ".cp",
                                           ".cpp", ".CPP", ".cxx", ".c++", ".ii"};
    const char *dot = strrchr(dh_path_base(path), '.');
    for (size_t i = 0; dot && i < DH_ARRAY_LEN(suffixes); i++)
        if (strcmp(dot, suffixes[i]) == 0)
            return true;
    return false;
}

static enum kind kind_of(const char *path)
{
    static const u8 elf[] = {0x7f, 'E', 'L', 'F'}, raw[] = {'B', 'C', 0xc0, 0xde};
    static const u8 wrapped[] = {0xde, 0xc0, 0x17, 0x0b};
    u8 head[4] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return UNREADABLE;
    ssize_t n = read(fd, head, sizeof(head));
    int err = errno;
    close(fd);
    errno = err;
    if (n < 0)
        return UNREADABLE;
    if (n == (ssize_t)sizeof(head) && memcmp(head, elf, sizeof(elf)) == 0)
        return PROGRAM;
    if (n == (ssize_t)sizeof(head) &&
        (memcmp(head, raw, sizeof(raw)) == 0 || memcmp(head, wrapped, sizeof(wrapped)) == 0))
        return BITCODE;
    return is_source(path) ? SOURCE : OTHER;
}

/* ---- Programs ----------------------------------------------------------------------------------------- */

/* The section's bytes, owned by elf; NULL if it has none. */
static Elf_Data *find_section(Elf *elf)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && strcmp(name, DH_PAIRS_SECTION) == 0)
            return elf_rawdata(section, NULL);
    }
    return NULL;
}

/* A shared object that is not a program: it cannot be started. */
static bool is_library(Elf *elf, const GElf_Ehdr *header)
{
    for (int i = 0; i < header->e_phnum; i++) {
        GElf_Phdr part;
        if (gelf_getphdr(elf, i, &part) && part.p_type == PT_INTERP)
            return false;
    }
    return header->e_type == ET_DYN && header->e_entry == 0;
}

static int no_section(Elf *elf, const char *path)
{
    GElf_Ehdr header;
    if (gelf_getehdr(elf, &header) && header.e_type == ET_REL)
        return dh_cli_fail("static", "'%s' is an object file, and only whole programs are analysed: link it",
                           path);
    if (gelf_getehdr(elf, &header) && is_library(elf, &header))
        return dh_cli_fail(
            "static",
            "'%s' is a shared library, and only programs carry a table of pairs; its bitcode can be analysed",
            path);
    if (dh_elfcheck_file(path) == DH_ELFCHECK_INSTRUMENTED)
        return dh_cli_fail(
            "static",
            "'%s' was built to be run, and holds no table of pairs: build it with 'deadheat cc "
            "--dh-mode=field'",
            path);
    return dh_cli_fail(
        "static",
        "'%s' holds no table of pairs: build it with 'deadheat cc --dh-mode=field', and do not "
        "strip its section " DH_PAIRS_SECTION,
        path);
}

static int read_elf(struct dh_static *s, Elf *elf, const char *path)
{
    Elf_Data *data = find_section(elf);
    if (!data)
        return no_section(elf, path);
    const char *why = NULL;
    if (!data->d_buf)
        why = "it is empty";
    else if (dh_pairs_read(data->d_buf, data->d_size, &s->pairs, &why) == 0)
        return 0;
    return dh_cli_fail("static", "cannot read the table of pairs in '%s': %s", path, why);
}

static int load_program(struct dh_static *s, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return dh_cli_fail("static", "cannot open '%s': %s", path, strerror(errno));
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    int rc =
        elf ? read_elf(s, elf, path) : dh_cli_fail("static", "cannot read '%s': %s", path, elf_errmsg(-1));
    if (elf)
        elf_end(elf);
    close(fd);
    return rc;
}

/* ---- Bitcode ------------------------------------------------------------------------------------------ */

static const char *find_analyser(struct dh_static *s)
{
    const char *given = getenv("DEADHEAT_LIBDIR");
    if (given && *given)
        return dh_arena_printf(&s->arena, "%s/deadheat-ir", given);
    const char *self = dh_path_self(&s->arena);
    return self ? dh_path_join(&s->arena, self, "../../lib/deadheat/deadheat-ir") : NULL;
}

/* The analyser while it runs. Its output and its messages go to unnamed files, so that neither can fill a
 * pipe while the other is waited for. */
struct analyser {
    pid_t pid;
    int table, complaint; /* files */
    int progress;         /* the reading end of a pipe; -1: none */
};

static _Noreturn void become_analyser(const struct analyser *a, const char *path, char **argv, int progress)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would read its result */
    dup2(a->table, STDOUT_FILENO);
    dup2(a->complaint, STDERR_FILENO);
    if (progress >= 0)
        fcntl(progress, F_SETFD, 0);
    execv(path, argv);
    dprintf(STDERR_FILENO, "cannot run '%s': %s\n", path, strerror(errno));
    _exit(DH_EXIT_TROUBLE);
}

static int unnamed_file(void)
{
    FILE *f = tmpfile();
    int fd = f ? fcntl(fileno(f), F_DUPFD_CLOEXEC, 3) : -1;
    if (f)
        fclose(f);
    return fd;
}

/* names: names for the files; NULL: their paths. */
static bool start(struct dh_static *s, struct analyser *a, char **files, char **names, size_t n,
                  bool progress)
{
    const char *path = find_analyser(s);
    int ends[2] = {-1, -1};
    *a = (struct analyser){.table = unnamed_file(), .complaint = unnamed_file(), .progress = -1};
    if (!path || a->table < 0 || a->complaint < 0 || (progress && pipe2(ends, O_CLOEXEC) != 0))
        return false;
    char **argv = dh_arena_array(&s->arena, 2 * n + 3, sizeof(*argv));
    size_t argc = 0;
    argv[argc++] = (char *)path;
    if (progress)
        argv[argc++] = dh_arena_printf(&s->arena, "--progress=%d", ends[1]);
    for (size_t i = 0; i < n; i++) {
        if (names)
            argv[argc++] = dh_arena_printf(&s->arena, "--as=%s", names[i]);
        argv[argc++] = files[i];
    }
    fflush(NULL);
    a->pid = fork();
    if (a->pid == 0)
        become_analyser(a, path, argv, ends[1]);
    if (ends[1] >= 0)
        close(ends[1]);
    a->progress = ends[0];
    return a->pid > 0;
}

/* Shows each phase in place of the one before, until there are no more. */
static void show_phases(int fd)
{
    struct dh_lines lines;
    const char *text;
    size_t len;
    dh_lines_init(&lines, fd);
    while (dh_lines_next(&lines, &text, &len) == DH_LINES_OK)
        fprintf(stderr, "\r\033[Kdeadheat static: %.*s", (int)(len < 60 ? len : 60), text);
    dh_lines_done(&lines);
    fputs("\r\033[K", stderr);
}

static u8 *read_whole(int fd, size_t *ret_len)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return NULL;
    size_t len = (size_t)st.st_size, have = 0;
    u8 *bytes = dh_util_alloc(len + 1);
    ssize_t n;
    while (have < len && (n = pread(fd, bytes + have, len - have, (off_t)have)) > 0)
        have += (size_t)n;
    bytes[have] = '\0';
    *ret_len = have;
    return bytes;
}

/* The analyser's last line: LLVM may have printed something before. */
static const char *last_line(char *text, size_t len)
{
    while (len && text[len - 1] == '\n')
        text[--len] = '\0';
    const char *before = strrchr(text, '\n');
    return before ? before + 1 : text;
}

/* The analyser's message, in one line, or how it ended. */
static int report_failure(const struct analyser *a, int status)
{
    size_t len = 0;
    char *text = (char *)read_whole(a->complaint, &len);
    if (WIFSIGNALED(status))
        dh_cli_fail("static", "the analysis of the bitcode ended by signal %d (%s)", WTERMSIG(status),
                    strsignal(WTERMSIG(status)));
    else if (text && len)
        dh_cli_fail("static", "%s", last_line(text, len));
    else
        dh_cli_fail("static", "the analysis of the bitcode failed with status %d", WEXITSTATUS(status));
    free(text);
    return DH_EXIT_TROUBLE;
}

static int finish(struct dh_static *s, const struct analyser *a)
{
    int status = 0;
    if (a->progress >= 0)
        show_phases(a->progress);
    while (waitpid(a->pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return report_failure(a, status);
    size_t len = 0;
    u8 *bytes = read_whole(a->table, &len);
    const char *why = "it cannot be read";
    int rc = bytes ? dh_pairs_read(bytes, len, &s->pairs, &why) : -EIO;
    free(bytes);
    return rc ? dh_cli_fail("static", "the analyser's table of pairs is bad: %s", why) : 0;
}

static int load_bitcode(struct dh_static *s, char **files, char **names, size_t n, bool progress)
{
    struct analyser a;
    int rc = start(s, &a, files, names, n, progress)
                 ? finish(s, &a)
                 : dh_cli_fail("static", "cannot start the analyser: %s", strerror(errno));
    const int fds[] = {a.table, a.complaint, a.progress};
    for (size_t i = 0; i < DH_ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return rc;
}

/* ---- Sources ------------------------------------------------------------------------------------------ */

/* Compiles into unnamed files, which the analyser opens by their descriptors. */
static int load_sources(struct dh_static *s, const struct dh_static_input *in)
{
    int *fds = dh_arena_array(&s->arena, in->n_files, sizeof(*fds)), rc = 0;
    char **paths = dh_arena_array(&s->arena, in->n_files, sizeof(*paths));
    size_t n = 0;
    for (; n < in->n_files && rc == 0; n++) {
        int fd = unnamed_file();
        fds[n] = fd < 0 ? -1 : fcntl(fd, F_DUPFD, 3); /* to be inherited */
        if (fd >= 0)
            close(fd);
        if (fds[n] < 0)
            rc = dh_cli_fail("static", "cannot make a temporary file: %s", strerror(errno));
        paths[n] = dh_arena_printf(&s->arena, "/proc/self/fd/%d", fds[n]);
    }
    if (rc == 0)
        rc = dh_static_compile(s, in, fds);
    if (rc == 0)
        rc = load_bitcode(s, paths, in->files, n, in->progress);
    while (n-- > 0)
        if (fds[n] >= 0)
            close(fds[n]);
    return rc;
}

/* All names in a table are for people, in every format; doing this once is better than at each place that
 * prints. */
static void tame(struct dh_pairs *p)
{
    for (size_t i = 0; i < p->n_strings; i++)
        dh_text_tame((char *)p->strings[i], strlen(p->strings[i])); /* in its arena, and nobody else's */
}

/* The request must fit the input. */
static int check_input(const struct dh_static_input *in, enum kind *ret_kind)
{
    *ret_kind = kind_of(in->files[0]);
    for (size_t i = 0; i < in->n_files; i++) {
        enum kind kind = kind_of(in->files[i]);
        if (kind == UNREADABLE)
            return dh_cli_fail("static", "cannot open '%s': %s", in->files[i], strerror(errno));
        if (kind == OTHER)
            return dh_cli_fail("static",
                               "'%s' is neither a program nor LLVM bitcode, nor a source in C or C++",
                               in->files[i]);
        if (kind == PROGRAM && in->n_files > 1)
            return dh_cli_fail("static",
                               "'%s' is a program, and programs are looked at one at a time; only "
                               "sources, or bitcode, are taken together",
                               in->files[i]);
        if (kind != *ret_kind)
            return dh_cli_fail("static",
                               "'%s' is a source and '%s' is bitcode: compile it first, or give the source",
                               in->files[kind == SOURCE ? i : 0], in->files[kind == SOURCE ? 0 : i]);
    }
    if (*ret_kind != SOURCE && in->n_options)
        return dh_cli_fail("static", "'%s' is an option for compiling, and '%s' is compiled already",
                           in->options[0], in->files[0]);
    return 0;
}

static int check_of(const struct dh_static *s, const struct dh_static_input *in, enum kind kind)
{
    if (!in->of_given || kind == SOURCE || (kind == PROGRAM && s->of == DH_STATIC_BINARY))
        return 0;
    return dh_cli_fail("static", "'%s' is no source: --of=%s cannot be said of it", in->files[0],
                       dh_static_of_word(s));
}

int dh_static_load(struct dh_static *s, const struct dh_static_input *in)
{
    enum kind kind;
    int rc = check_input(in, &kind);
    if (rc == 0)
        rc = check_of(s, in, kind);
    if (rc != 0)
        return rc;
    if (kind == PROGRAM) {
        s->of = DH_STATIC_BINARY;
        rc = load_program(s, in->files[0]);
    } else if (kind == BITCODE) {
        s->of = DH_STATIC_BITCODE;
        rc = load_bitcode(s, in->files, NULL, in->n_files, in->progress);
    } else {
        rc = load_sources(s, in);
    }
    if (rc == 0)
        tame(s->pairs);
    return rc;
}
