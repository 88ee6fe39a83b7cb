/*
 * hive_symbols.c - `deadheat hive add`: symbols for the code of a build in the stacks of its races, in the
 * format of hive/stacks.h. Functions come from the symbol table, lines from the debug information, and the
 * latter only with --source.
 */
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/hive.h"
#include "report/symbol.h"
#include "util/map.h"
#include "util/text.h"

struct function {
    u64 offset, size;
    const char *name;
};

struct line {
    u64 offset;
    size_t rank; /* in the order of the table: the last one at an offset counts */
    u32 file;
    int number;
};

struct symbols {
    struct dh_arena arena;
    struct function *functions;
    size_t n_functions, cap_functions;
    struct line *lines;
    size_t n_lines, cap_lines;
    struct dh_map numbers; /* of files, plus one */
    json_t *files;
};

static int by_function(const void *a, const void *b)
{
    const struct function *x = a, *y = b;
    return x->offset != y->offset ? (x->offset > y->offset) - (x->offset < y->offset)
                                  : strcmp(x->name, y->name);
}

static int by_line(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    return x->offset != y->offset ? (x->offset > y->offset) - (x->offset < y->offset)
                                  : (x->rank > y->rank) - (x->rank < y->rank);
}

/* ---- Reading ---- */

static void read_functions(struct symbols *s, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym symbol;
    for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || !symbol.st_size || !name || !*name)
            continue;
        const char *shown = dh_symbol_demangle(&s->arena, name);
        s->functions = dh_util_grow(s->functions, s->n_functions, &s->cap_functions, sizeof(*s->functions));
        s->functions[s->n_functions++] =
            (struct function){symbol.st_value, symbol.st_size, dh_text_utf8(&s->arena, shown, strlen(shown))};
    }
}

static void find_functions(struct symbols *s, Elf *elf)
{
    GElf_Shdr header;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));)
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
            read_functions(s, elf, section, &header);
}

static u32 number_of(struct symbols *s, const char *file)
{
    size_t len = strlen(file);
    uintptr_t known = (uintptr_t)dh_map_get(&s->numbers, file, len);
    if (!known) {
        json_array_append_new(s->files, json_string(dh_text_utf8(&s->arena, file, len)));
        known = json_array_size(s->files);
        dh_map_put(&s->numbers, file, len, (void *)known);
    }
    return (u32)known - 1;
}

static void add_line(struct symbols *s, Dwarf_Line *line)
{
    Dwarf_Addr offset;
    int number = 0;
    bool end = false;
    const char *file = dwarf_linesrc(line, NULL, NULL);
    if (!file || dwarf_lineaddr(line, &offset) != 0 || dwarf_lineno(line, &number) != 0 || number < 0)
        return;
    dwarf_lineendsequence(line, &end);
    s->lines = dh_util_grow(s->lines, s->n_lines, &s->cap_lines, sizeof(*s->lines));
    s->lines[s->n_lines] = (struct line){offset, s->n_lines, number_of(s, file), end ? 0 : number};
    s->n_lines++;
}

static void find_lines(struct symbols *s, Elf *elf)
{
    Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
    Dwarf_Die unit;
    Dwarf_Off at = 0, next;
    for (size_t head; dwarf && dwarf_nextcu(dwarf, at, &next, &head, NULL, NULL, NULL) == 0; at = next) {
        Dwarf_Lines *lines;
        size_t n;
        if (!dwarf_offdie(dwarf, at + head, &unit) || dwarf_getsrclines(&unit, &lines, &n) != 0)
            continue;
        for (size_t i = 0; i < n; i++)
            add_line(s, dwarf_onesrcline(lines, i));
    }
    if (dwarf)
        dwarf_end(dwarf);
}

/* ---- Writing ---- */

static json_t *document_of(struct symbols *s)
{
    json_t *functions = json_array(), *lines = json_array();
    const struct line *last = NULL;
    if (s->n_functions)
        qsort(s->functions, s->n_functions, sizeof(*s->functions), by_function);
    if (s->n_lines)
        qsort(s->lines, s->n_lines, sizeof(*s->lines), by_line);
    for (size_t i = 0; i < s->n_functions; i++) {
        const struct function *f = &s->functions[i];
        if (i + 1 == s->n_functions || f[1].offset != f->offset) /* of several names, one */
            json_array_append_new(
                functions, json_pack("[I, I, s]", (json_int_t)f->offset, (json_int_t)f->size, f->name));
    }
    for (size_t i = 0; i < s->n_lines; i++) {
        const struct line *l = &s->lines[i];
        bool same = last && last->file == l->file && last->number == l->number;
        if (same || (i + 1 < s->n_lines && l[1].offset == l->offset))
            continue;
        last = l;
        json_array_append_new(lines,
                              json_pack("[I, I, i]", (json_int_t)l->offset, (json_int_t)l->file, l->number));
    }
    return json_pack("{s:o, s:O, s:o}", "functions", functions, "files", s->files, "lines", lines);
}

char *dh_cli_hive_symbols(struct dh_cli_hive *c, const char *path, size_t *ret_len)
{
    struct symbols s = {.files = json_array()};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf *elf = fd >= 0 && elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    dh_map_init(&s.numbers, &s.arena);
    if (elf)
        find_functions(&s, elf);
    if (elf && c->source)
        find_lines(&s, elf);
    json_t *document = document_of(&s);
    char *text = document ? json_dumps(document, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    if (!text)
        dh_util_no_memory();
    *ret_len = strlen(text);
    if (*ret_len > DH_HIVE_SYMBOLS_MOST) {
        dh_cli_warn(c->command, "'%s' has too many symbols: stacks of its races will have no names", path);
        free(text);
        text = NULL;
    }
    json_decref(document);
    json_decref(s.files);
    free(s.functions);
    free(s.lines);
    dh_map_done(&s.numbers);
    dh_arena_done(&s.arena);
    if (elf)
        elf_end(elf);
    if (fd >= 0)
        close(fd);
    return text;
}
