/*
 * lines.c - see lines.h. The line table says which addresses a position has; code.c says what is there.
 *
 * A row of the table begins at an instruction and ends where the next row begins, so a stretch is decoded
 * from its first byte. Unwind tables say whether rbp is the frame pointer at an instruction: optimised code
 * uses rbp for anything.
 */
#include "chase/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chase/atomic.h"
#include "chase/built.h"
#include "chase/copies.h"
#include "util/map.h"
#include "util/path.h"

struct dh_chase_file {
    struct dh_arena *arena;
    Dwfl *dwfl;
    Dwarf *dwarf;
    u64 dwarf_bias; /* address in the file = address in the Dwarf + this */
    Elf *elf;
    Dwarf_CFI *cfi; /* NULL: none */
    u64 cfi_bias;   /* the same for it */
    struct {
        Dwarf_Addr lo, hi;
        bool by_bp;
    } row; /* of those tables, the one looked up last */
    bool has_globals;
    struct dh_chase_globals globals; /* read when first needed */
    struct dh_chase_built built;     /* of a field build */
    struct dh_chase_copies copies;
};

/* ---- Opening ---- */

static char *debuginfo_path; /* NULL: libdwfl's default places */

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debuginfo_path,
};

/* Before libdwfl sees it: it would read archives, too. 0 or a negative errno with a message. */
static int check_kind(struct dh_arena *arena, const char *path, const char **ret_why)
{
    struct stat st;
    unsigned char head[EI_NIDENT] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        int error = errno;
        *ret_why = dh_arena_printf(arena, "cannot read '%s': %s", path, strerror(error));
        return -error;
    }
    ssize_t n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, head, sizeof(head)) : 0;
    close(fd);
    if (n >= 2 && memcmp(head, "#!", 2) == 0)
        *ret_why = dh_arena_printf(arena, "'%s' is a script; name the program that it runs", path);
    else if (n != sizeof(head) || memcmp(head, ELFMAG, SELFMAG) != 0)
        *ret_why = dh_arena_printf(arena, "'%s' is no program", path);
    else if (head[EI_CLASS] != ELFCLASS64)
        *ret_why = dh_arena_printf(arena, "'%s' is not for x86-64", path);
    else
        return 0;
    return -ENOEXEC;
}

static const char missing[] =
    "'%s' has no debug information, so no line of it can be found; compile it with "
    "-g, and do not strip it";
/* libdw takes what it cannot decompress for not there. */
static const char unreadable[] =
    "the debug information of '%s' cannot be read: it is damaged, or compressed in "
    "a way that is not known here; -gz=none and -gz=zlib are";

static bool has_units(Dwarf *dwarf)
{
    Dwarf_CU *first;
    return dwarf && dwarf_get_units(dwarf, NULL, &first, NULL, NULL, NULL, NULL) == 0;
}

int dh_chase_lines_open(struct dh_arena *arena, const char *path, struct dh_chase_file **ret_file,
                        const char **ret_why)
{
    int rc = check_kind(arena, path, ret_why);
    if (rc)
        return rc;
    struct dh_chase_file *f = dh_arena_alloc(arena, sizeof(*f));
    GElf_Addr elf_bias, bias;
    GElf_Ehdr header;
    f->arena = arena;
    f->dwfl = dwfl_begin(&callbacks);
    if (!f->dwfl)
        dh_util_no_memory();
    Dwfl_Module *module = dwfl_report_offline(f->dwfl, path, path, -1);
    dwfl_report_end(f->dwfl, NULL, NULL);
    f->elf = module ? dwfl_module_getelf(module, &elf_bias) : NULL;
    if (!f->elf || !gelf_getehdr(f->elf, &header)) {
        *ret_why = dh_arena_printf(arena, "cannot read '%s': %s", path, dwfl_errmsg(-1));
        goto bad;
    }
    if (header.e_machine != EM_X86_64) {
        *ret_why = dh_arena_printf(arena, "'%s' is not for x86-64", path);
        goto bad;
    }
    f->dwarf = dwfl_module_getdwarf(module, &bias);
    if (!has_units(f->dwarf)) {
        bool there = dh_chase_lines_has_section(f, ".debug_info");
        *ret_why = dh_arena_printf(arena, there ? unreadable : missing, path);
        goto bad;
    }
    f->dwarf_bias = bias - elf_bias;
    f->cfi = dwfl_module_eh_cfi(module, &bias);
    f->cfi_bias = f->cfi ? bias - elf_bias : 0;
    dh_chase_built_read(arena, f->elf, &f->built);
    dh_chase_copies_read(arena, f->elf, &f->copies);
    *ret_file = f;
    return 0;
bad:
    dwfl_end(f->dwfl);
    return -ENOEXEC;
}

void dh_chase_lines_close(struct dh_chase_file *file)
{
    if (!file)
        return;
    dh_chase_atomic_done(&file->globals);
    dwfl_end(file->dwfl);
}

static bool find_header(const struct dh_chase_file *f, u32 type, GElf_Phdr *ret)
{
    size_t n;
    for (size_t i = 0; elf_getphdrnum(f->elf, &n) == 0 && i < n; i++)
        if (gelf_getphdr(f->elf, (int)i, ret) && ret->p_type == type)
            return true;
    return false;
}

Elf *dh_chase_lines_elf(const struct dh_chase_file *file)
{
    return file->elf;
}

const struct dh_chase_built *dh_chase_lines_built(const struct dh_chase_file *file)
{
    return &file->built;
}

u64 dh_chase_lines_base(const struct dh_chase_file *file)
{
    GElf_Phdr p;
    return find_header(file, PT_LOAD, &p) ? p.p_vaddr - p.p_offset : 0;
}

bool dh_chase_lines_is_field(const struct dh_chase_file *file)
{
    return file->built.n_functions > 0;
}

bool dh_chase_lines_has_section(const struct dh_chase_file *file, const char *name)
{
    size_t names;
    if (elf_getshdrstrndx(file->elf, &names) != 0)
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section));) {
        GElf_Shdr header;
        const char *its =
            gelf_getshdr(section, &header) ? elf_strptr(file->elf, names, header.sh_name) : NULL;
        if (its && strcmp(its, name) == 0)
            return true;
    }
    return false;
}

const char *dh_chase_lines_build_id(const struct dh_chase_file *file)
{
    const void *bits;
    ssize_t n = dwelf_elf_gnu_build_id(file->elf, &bits);
    char *text = dh_arena_alloc(file->arena, n > 0 ? 2 * (size_t)n + 1 : 1);
    for (ssize_t i = 0; i < n; i++)
        snprintf(text + 2 * i, 3, "%02x", ((const u8 *)bits)[i]);
    return text;
}

bool dh_chase_lines_is_static(const struct dh_chase_file *file)
{
    GElf_Phdr p;
    return !find_header(file, PT_INTERP, &p);
}

/* ---- The code of a stretch ---- */

const u8 *dh_chase_lines_bytes(const struct dh_chase_file *f, u64 lo, u64 hi)
{
    size_t n, size;
    const char *all = elf_rawfile(f->elf, &size);
    if (!all || elf_getphdrnum(f->elf, &n) != 0)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr p;
        if (!gelf_getphdr(f->elf, (int)i, &p) || p.p_type != PT_LOAD || !(p.p_flags & PF_X) ||
            lo < p.p_vaddr || hi - p.p_vaddr > p.p_filesz || hi < lo)
            continue;
        u64 at = p.p_offset + (lo - p.p_vaddr);
        return at <= size && hi - lo <= size - at ? (const u8 *)all + at : NULL;
    }
    return NULL;
}

/* Is the frame addressed through rbp here? Assumed if there is no table. */
static bool has_frame_pointer(struct dh_chase_file *f, u64 address)
{
    Dwarf_Frame *frame;
    Dwarf_Op *ops;
    size_t n = 0;
    const u64 at = address - f->cfi_bias;
    if (f->cfi && at >= f->row.lo && at < f->row.hi)
        return f->row.by_bp;
    if (!f->cfi || dwarf_cfi_addrframe(f->cfi, at, &frame) != 0)
        return true;
    if (dwarf_frame_cfa(frame, &ops, &n) != 0)
        n = 0;
    f->row.by_bp = false;
    for (size_t i = 0; i < n; i++)
        f->row.by_bp |= ops[i].atom == DW_OP_breg6 || (ops[i].atom == DW_OP_bregx && ops[i].number == 6);
    if (dwarf_frame_info(frame, &f->row.lo, &f->row.hi, NULL) < 0)
        f->row.lo = f->row.hi = 0;
    free(frame);
    return f->row.by_bp;
}

static const struct dh_chase_globals *globals_of(struct dh_chase_file *f)
{
    if (!f->has_globals)
        dh_chase_atomic_read(&f->globals, f->dwarf);
    f->has_globals = true;
    return &f->globals;
}

bool dh_chase_lines_is_atomic(struct dh_chase_file *f, u64 address, u64 size)
{
    return dh_chase_atomic_is_global(globals_of(f), address - f->dwarf_bias, size);
}

/* Does the source declare the accessed object atomic? Asked only if the instruction itself does not say. */
static bool is_declared_atomic(struct dh_chase_file *f, u64 address, const struct dh_chase_code *code)
{
    const struct dh_control_operand *o = &code->operands[0];
    if (code->kind != DH_CHASE_CODE_ACCESS || code->atomic || code->plain || o->flags)
        return false;
    if (o->base < DH_CONTROL_RIP)
        return o->index == DH_CONTROL_NONE &&
               dh_chase_atomic_is_pointee(globals_of(f), address - f->dwarf_bias, o->base,
                                          (u64)o->displacement, o->size);
    /* For an array in a program that is not position-independent, any element will do. */
    u64 at = (u64)o->displacement + (o->base == DH_CONTROL_RIP ? address + code->length : 0);
    return dh_chase_lines_is_atomic(f, at, o->size);
}

/* What the compiler recorded, or else a guess. */
void dh_chase_lines_tell_atomic(struct dh_chase_file *f, u64 address, struct dh_chase_code *code)
{
    if (!dh_chase_built_covers(&f->built, address)) {
        code->atomic |= is_declared_atomic(f, address, code);
        return;
    }
    code->atomic |= dh_chase_built_atomic(&f->built, address) != 0;
    code->plain = !code->atomic;
}

struct search {
    struct dh_chase_file *file;
    const struct dh_chase_position *position; /* NULL: all of the file */
    struct dh_chase_accesses *ret;
    size_t cap;
    struct dh_chase_spots *every; /* filled instead of `ret` */
    struct dh_map files;          /* paths, by the file name string of a row, which rows of one file share */
};

static void add(struct search *s, u64 address, const struct dh_chase_code *code, const char *file, int line,
                int column)
{
    struct dh_chase_accesses *a = s->ret;
    for (size_t i = 0; i < a->n; i++) /* tables of several units may cover the same code */
        if (a->at[i].address == address)
            return;
    if (a->n && strcmp(a->at[0].file, file) != 0)
        a->other = file;
    a->at = dh_util_grow(a->at, a->n, &s->cap, sizeof(*a->at));
    a->at[a->n] = (struct dh_chase_access){address, *code, file, line, column, 0};
    if (s->position)
        dh_chase_lines_tell_atomic(s->file, address, &a->at[a->n].code);
    a->n++;
    a->refused += code->kind == DH_CHASE_CODE_REFUSED;
}

/* Is this address in a segment, or part of one, that nobody writes once the program runs? */
static bool is_constant(const struct dh_chase_file *f, u64 address)
{
    size_t n;
    bool constant = false;
    for (size_t i = 0; elf_getphdrnum(f->elf, &n) == 0 && i < n; i++) {
        GElf_Phdr p;
        if (gelf_getphdr(f->elf, (int)i, &p) && address - p.p_vaddr < p.p_memsz)
            constant |= p.p_type == PT_GNU_RELRO || (p.p_type == PT_LOAD && !(p.p_flags & PF_W));
    }
    return constant;
}

/* Can another thread access the same bytes, and does any thread write them? */
static bool may_be_shared(const struct dh_chase_file *f, u64 address, const struct dh_chase_code *code)
{
    for (u8 i = 0; i < code->n_operands; i++) {
        const struct dh_control_operand *o = &code->operands[i];
        bool fixed = o->base >= DH_CONTROL_RIP && o->index == DH_CONTROL_NONE;
        u64 at = (u64)o->displacement + (o->base == DH_CONTROL_RIP ? address + code->length : 0);
        if (!(o->flags & DH_CONTROL_FS) && !(fixed && is_constant(f, at)))
            return true;
    }
    return false;
}

static void add_spot(struct search *s, u64 address, const struct dh_chase_code *code, const char *file,
                     int line, int column)
{
    struct dh_chase_spots *e = s->every;
    if (code->kind != DH_CHASE_CODE_ACCESS || !may_be_shared(s->file, address, code))
        return;
    e->at = dh_util_grow(e->at, e->n, &s->cap, sizeof(*e->at));
    e->at[e->n++] = (struct dh_chase_spot){address, file, line, column, code->length, code->kinds};
}

static void read_stretch(struct search *s, u64 lo, u64 hi, const char *file, int line, int column)
{
    const u8 *bytes = dh_chase_lines_bytes(s->file, lo, hi);
    s->ret->has_code |= bytes != NULL;
    for (u64 at = lo; bytes && at < hi;) {
        struct dh_chase_code code;
        if (dh_chase_code_read(bytes + (at - lo), hi - at, has_frame_pointer(s->file, at), &code) != 0) {
            s->ret->undecodable++;
            return;
        }
        if (s->position) /* accesses drawn from the whole file would mostly be copies in frames */
            dh_chase_copies_tell(&s->file->copies, s->file, at, &code);
        if (code.kind == DH_CHASE_CODE_FRAME)
            s->ret->frame++;
        else if (code.kind != DH_CHASE_CODE_NONE)
            (s->every ? add_spot : add)(s, at, &code, file, line, column);
        at += code.length;
    }
}

/* ---- The line table ---- */

/* Do the last components of the path match? */
static bool names(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    return m <= n && strcmp(path + n - m, end) == 0 && (m == n || end[0] == '/' || path[n - m - 1] == '/');
}

/* One row: a stretch of code that belongs to one position; empty if the next row is at the same address. */
struct row {
    Dwarf_Addr lo, hi;
    const char *name; /* of its file; rows of one file share the string */
    int line, column;
};

/* False if no stretch begins at row i. There is always a row after it. */
static bool read_row(Dwarf_Lines *lines, size_t i, struct row *ret)
{
    Dwarf_Line *row = dwarf_onesrcline(lines, i), *next = dwarf_onesrcline(lines, i + 1);
    bool ends = false;
    *ret = (struct row){0};
    if (dwarf_lineno(row, &ret->line) != 0 || dwarf_lineendsequence(row, &ends) != 0 || ends ||
        dwarf_lineaddr(row, &ret->lo) != 0 || dwarf_lineaddr(next, &ret->hi) != 0 || ret->lo > ret->hi)
        return false;
    dwarf_linecol(row, &ret->column);
    ret->name = dwarf_linesrc(row, NULL, NULL);
    return ret->name != NULL && ret->lo < ret->hi;
}

/* The path of a row's file. */
static const char *path_of(struct search *s, const char *dir, const char *name)
{
    char *known = dh_map_get(&s->files, &name, sizeof(name));
    if (!known) {
        known = dh_path_join(s->file->arena, dir, name);
        dh_map_put(&s->files, &name, sizeof(name), known);
    }
    return known;
}

static void search_unit(struct search *s, Dwarf_Die *unit)
{
    const struct dh_chase_position *p = s->position;
    Dwarf_Lines *lines;
    size_t n;
    Dwarf_Attribute attr;
    if (dwarf_getsrclines(unit, &lines, &n) != 0)
        return;
    const char *dir = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attr));
    for (size_t i = 0; i + 1 < n; i++) {
        struct row row;
        if (!read_row(lines, i, &row) || row.line <= 0 || (p && row.line != p->line))
            continue;
        const char *file = path_of(s, dir, row.name);
        if (!p || (names(file, p->file) && (!p->column || row.column == p->column)))
            read_stretch(s, row.lo + s->file->dwarf_bias, row.hi + s->file->dwarf_bias, file, row.line,
                         row.column);
    }
}

/* ---- Code without a line ---- */

struct function {
    u64 address;
    Dwarf_Addr lo, hi;
};

static int take_function(Dwarf_Die *die, void *ctx)
{
    struct function *f = ctx;
    bool here =
        dwarf_haspc(die, f->address) == 1 && dwarf_lowpc(die, &f->lo) == 0 && dwarf_highpc(die, &f->hi) == 0;
    return here ? DWARF_CB_ABORT : DWARF_CB_OK;
}

/* Code that the optimiser merged from several lines has no line. So for a line without a suitable access, the
 * accesses without a line in the same function are taken. */
static void search_merged(struct search *s, Dwarf_Die *unit)
{
    const struct dh_chase_position *p = s->position;
    struct function function = {0};
    Dwarf_Lines *lines;
    Dwarf_Attribute attr;
    struct row row;
    size_t n;
    if (dwarf_getsrclines(unit, &lines, &n) != 0)
        return;
    const char *dir = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attr));
    for (size_t i = 0; i + 1 < n; i++) {
        if (!read_row(lines, i, &row) || row.line != p->line || !names(path_of(s, dir, row.name), p->file) ||
            (row.lo >= function.lo && row.lo < function.hi))
            continue;
        const char *file = path_of(s, dir, row.name);
        function = (struct function){.address = row.lo};
        dwarf_getfuncs(unit, take_function, &function, 0);
        for (size_t k = 0; k + 1 < n; k++)
            if (read_row(lines, k, &row) && row.line == 0 && row.lo >= function.lo && row.lo < function.hi)
                read_stretch(s, row.lo + s->file->dwarf_bias, row.hi + s->file->dwarf_bias, file, p->line, 0);
    }
}

/* One instruction may have several rows: gcc gives the load of "return x;" to that line, and then to the
 * closing brace, but not as the beginning of a statement. Debuggers take the last row that is one. So for a
 * line without a suitable access, the stretches are taken at which such a row of it is. */
static void search_statements(struct search *s, Dwarf_Die *unit)
{
    const struct dh_chase_position *p = s->position;
    Dwarf_Lines *lines;
    Dwarf_Attribute attr;
    size_t n, statement = 0;
    Dwarf_Addr at = 0;
    if (dwarf_getsrclines(unit, &lines, &n) != 0)
        return;
    const char *dir = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attr));
    for (size_t i = 0; i + 1 < n; i++) {
        struct row row, same;
        bool begins = false;
        dwarf_linebeginstatement(dwarf_onesrcline(lines, i), &begins);
        bool has_code = read_row(lines, i, &row);
        if (begins || row.lo != at)
            statement = i;
        at = row.lo;
        if (!has_code || statement == i)
            continue;
        read_row(lines, statement, &same);
        if (same.line == p->line && same.name && names(path_of(s, dir, same.name), p->file) &&
            (!p->column || same.column == p->column))
            read_stretch(s, row.lo + s->file->dwarf_bias, row.hi + s->file->dwarf_bias,
                         path_of(s, dir, same.name), same.line, same.column);
    }
}

static bool has_kind(const struct dh_chase_accesses *a, u8 kinds)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->at[i].code.kinds & kinds)
            return true;
    return false;
}

/* ---- All units ---- */

/* A spot has the same first members as an access. */
static int by_address(const void *a, const void *b)
{
    u64 x = *(const u64 *)a, y = *(const u64 *)b;
    return (x > y) - (x < y);
}
_Static_assert(offsetof(struct dh_chase_access, address) == 0 && offsetof(struct dh_chase_spot, address) == 0,
               "what is sorted begins with its address");

/* Sorted, and in the arena. */
static void finish(struct dh_chase_file *file, struct dh_chase_accesses *found)
{
    struct dh_chase_access *list = dh_arena_array(file->arena, found->n, sizeof(*list));
    if (found->n) {
        memcpy(list, found->at, found->n * sizeof(*list));
        qsort(list, found->n, sizeof(*list), by_address);
    }
    free(found->at);
    found->at = list;
}

static bool next_unit(const struct dh_chase_file *file, Dwarf_CU **cu, Dwarf_Die *ret)
{
    Dwarf_Half version;
    uint8_t type;
    while (dwarf_get_units(file->dwarf, *cu, cu, &version, &type, ret, NULL) == 0)
        if (type == DW_UT_compile || type == DW_UT_skeleton || type == DW_UT_partial)
            return true;
    return false;
}

static void search_all(struct search *s, void (*search)(struct search *s, Dwarf_Die *unit))
{
    Dwarf_CU *cu = NULL;
    Dwarf_Die die;
    struct dh_arena keys = {0};
    dh_map_init(&s->files, &keys);
    while (next_unit(s->file, &cu, &die))
        search(s, &die);
    dh_map_done(&s->files);
    dh_arena_done(&keys);
}

void dh_chase_lines_find(struct dh_chase_file *file, const struct dh_chase_position *position,
                         struct dh_chase_accesses *ret)
{
    struct dh_chase_accesses found = {0};
    struct dh_chase_position plain = *position;
    struct search s = {.file = file, .position = &plain, .ret = &found};
    plain.file = dh_path_join(file->arena, NULL, position->file);
    search_all(&s, search_unit);
    if (!found.refused && !has_kind(&found, position->kinds))
        search_all(&s, search_statements);
    if (found.has_code && !found.refused && !has_kind(&found, position->kinds)) {
        size_t n = found.n;
        search_all(&s, search_merged);
        found.merged = found.n > n;
    }
    finish(file, &found);
    *ret = found;
}

/* ---- All of it ---- */

void dh_chase_lines_keep(struct dh_chase_file *file, struct dh_chase_spots *spots, struct dh_chase_spots *ret)
{
    if (spots->n)
        qsort(spots->at, spots->n, sizeof(*spots->at), by_address);
    ret->at = dh_arena_array(file->arena, spots->n, sizeof(*spots->at));
    ret->n = 0;
    for (size_t i = 0; i < spots->n; i++) /* tables of several units may cover the same code */
        if (i == 0 || spots->at[i].address != spots->at[i - 1].address)
            ret->at[ret->n++] = spots->at[i];
}

void dh_chase_lines_every(struct dh_chase_file *file, struct dh_chase_spots *ret)
{
    struct dh_chase_accesses counts = {0};
    struct dh_chase_spots found = {0};
    struct search s = {.file = file, .ret = &counts, .every = &found};
    search_all(&s, search_unit);
    dh_chase_lines_keep(file, &found, ret);
    free(found.at);
}

const struct dh_chase_access *dh_chase_lines_at(struct dh_chase_file *file, const struct dh_chase_spot *spot)
{
    struct dh_chase_access *a = dh_arena_alloc(file->arena, sizeof(*a));
    const u8 *bytes = dh_chase_lines_bytes(file, spot->address, spot->address + spot->length);
    *a = (struct dh_chase_access){
        .address = spot->address, .file = spot->file, .line = spot->line, .column = spot->column};
    dh_chase_code_read(bytes, spot->length, has_frame_pointer(file, spot->address), &a->code);
    dh_chase_lines_tell_atomic(file, spot->address, &a->code);
    return a;
}

bool dh_chase_lines_line(struct dh_chase_file *file, u64 address, struct dh_chase_spot *ret)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Die unit;
    Dwarf_Attribute attr;
    u64 at = address - file->dwarf_bias;
    while (next_unit(file, &cu, &unit)) {
        Dwarf_Line *row = dwarf_haspc(&unit, at) == 1 ? dwarf_getsrc_die(&unit, at) : NULL;
        const char *name = row ? dwarf_linesrc(row, NULL, NULL) : NULL;
        struct dh_chase_spot spot = {.address = address};
        if (!name || dwarf_lineno(row, &spot.line) != 0 || spot.line <= 0)
            continue;
        dwarf_linecol(row, &spot.column);
        spot.file =
            dh_path_join(file->arena, dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attr)), name);
        *ret = spot;
        return true;
    }
    return false;
}
