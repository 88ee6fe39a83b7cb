/*
 * asm.c - the assembler: text to instructions.
 *
 *     class Node next value volatile ready    a class and its fields
 *     global list                             a variable of the program; `global volatile NAME` too
 *     func main 0                             a function of 0 arguments, which come in r0, r1, ...
 *     again:                                  a label
 *         put r0, Node.next, r1               see ops.def
 *     end
 *
 * A semicolon begins a comment. The text is read twice, first for the names, then for the instructions, so
 * that everything may be used before it is defined. Any mistake ends the process with one sentence: nothing
 * that the interpreter would stumble over gets past here, but for what only values show.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "vm.h"

enum { MAX_WORDS = 80, MAX_LABELS = 1024, MAX_TEXT = 1 << 20 };

#define OP(name, operands) #name,
const char *const op_names[OP_COUNT] = {
#include "ops.def"
};
#undef OP
#define OP(name, operands) operands,
static const char *const op_operands[OP_COUNT] = {
#include "ops.def"
};
#undef OP

struct label {
    const char *name;
    uint32_t func, at;
};

static struct assembler {
    struct program *p;
    bool names; /* the first reading */
    uint32_t line;
    char *words[MAX_WORDS];
    uint32_t n_words;
    int32_t func; /* the one we are in, or -1 */
    struct label labels[MAX_LABELS];
    uint32_t n_labels;
} as;

__attribute__((format(printf, 1, 2), noreturn)) static void bad(const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c >= 127)
            *c = '?';
    die("%s:%u: %s", as.p->path, as.line, text);
}

/* ---- Names ---- */

static bool is_name(const char *s)
{
    if (!isalpha((unsigned char)*s) && *s != '_')
        return false;
    while (isalnum((unsigned char)*s) || *s == '_')
        s++;
    return *s == 0;
}

static const char *new_name(const char *s, const char *what)
{
    if (!is_name(s))
        bad("'%.40s' cannot be the name of a %s", s, what);
    return s;
}

static int find_func(const char *s)
{
    for (uint32_t i = 0; i < as.p->n_funcs; i++)
        if (strcmp(as.p->funcs[i].name, s) == 0)
            return (int)i;
    return -1;
}

static int find_class(const char *s)
{
    for (uint32_t i = 0; i < as.p->n_classes; i++)
        if (strcmp(as.p->classes[i].name, s) == 0)
            return (int)i;
    return -1;
}

static int find_global(const char *s)
{
    for (uint32_t i = 0; i < as.p->n_globals; i++)
        if (strcmp(as.p->globals[i].name, s) == 0)
            return (int)i;
    return -1;
}

static int find_label(const char *s)
{
    for (uint32_t i = 0; i < as.n_labels; i++)
        if ((int32_t)as.labels[i].func == as.func && strcmp(as.labels[i].name, s) == 0)
            return (int)as.labels[i].at;
    return -1;
}

/* ---- Declarations ---- */

static void define_class(void)
{
    if (as.n_words < 2)
        bad("a class needs a name");
    if (as.func >= 0)
        bad("a class cannot be inside a function");
    if (!as.names)
        return;
    if (as.p->n_classes == MAX_NAMES)
        bad("there are more than %d classes", MAX_NAMES);
    if (find_class(as.words[1]) >= 0)
        bad("there are two classes '%.40s'", as.words[1]);
    struct class *k = &as.p->classes[as.p->n_classes++];
    k->name = new_name(as.words[1], "class");
    for (uint32_t i = 2; i < as.n_words; i++) {
        bool is_volatile = strcmp(as.words[i], "volatile") == 0;
        if (is_volatile && ++i == as.n_words)
            bad("'volatile' needs the name of a field after it");
        if (k->n_fields == MAX_FIELDS)
            bad("there are more than %d fields in a class", MAX_FIELDS);
        k->is_volatile[k->n_fields] = is_volatile;
        k->fields[k->n_fields++] = new_name(as.words[i], "field");
    }
}

static void define_global(void)
{
    bool is_volatile = as.n_words == 3 && strcmp(as.words[1], "volatile") == 0;
    if (as.n_words != (is_volatile ? 3 : 2))
        bad("a global is 'global NAME' or 'global volatile NAME'");
    if (as.func >= 0)
        bad("a global cannot be inside a function");
    if (!as.names)
        return;
    const char *name = as.words[as.n_words - 1];
    if (as.p->n_globals == MAX_NAMES)
        bad("there are more than %d globals", MAX_NAMES);
    if (find_global(name) >= 0)
        bad("there are two globals '%.40s'", name);
    as.p->globals[as.p->n_globals++] = (struct global){new_name(name, "global"), is_volatile};
}

static int64_t number(const char *s, int64_t low, int64_t high)
{
    char *end;
    errno = 0;
    long long v = strtoll(s, &end, 10);
    if (*end || end == s || errno || v < low || v > high)
        bad("'%.40s' is not a number from %lld to %lld", s, (long long)low, (long long)high);
    return v;
}

static void define_func(void)
{
    if (as.n_words != 3)
        bad("a function begins with 'func NAME ARGUMENTS'");
    if (as.func >= 0)
        bad("a function cannot be inside another; is an 'end' missing?");
    as.func = find_func(as.words[1]);
    if (as.names) {
        if (as.func >= 0)
            bad("there are two functions '%.40s'", as.words[1]);
        if (as.p->n_funcs == MAX_NAMES)
            bad("there are more than %d functions", MAX_NAMES);
        as.func = (int32_t)as.p->n_funcs++;
        as.p->funcs[as.func].name = new_name(as.words[1], "function");
    }
    struct func *f = &as.p->funcs[as.func];
    f->args = (uint32_t)number(as.words[2], 0, MAX_REGISTERS / 2);
    f->registers = f->args ? f->args : 1; /* and more as they are used */
    f->start = as.p->n_code;
}

static void emit(struct insn i)
{
    if (as.names)
        as.p->n_code++;
    else
        as.p->code[as.p->n_code++] = i;
}

static void end_func(void)
{
    if (as.func < 0)
        bad("'end' is outside of any function");
    if (as.n_words != 1)
        bad("nothing can follow 'end' on its line");
    emit((struct insn){.op = OP_RETNIL, .line = as.line});
    as.func = -1;
}

static void define_label(char *word)
{
    word[strlen(word) - 1] = 0;
    if (as.func < 0)
        bad("a label is outside of any function");
    if (as.names) {
        if (find_label(word) >= 0)
            bad("there are two labels '%.40s' in a function", word);
        if (as.n_labels == MAX_LABELS)
            bad("there are more than %d labels", MAX_LABELS);
        as.labels[as.n_labels++] = (struct label){new_name(word, "label"), (uint32_t)as.func, as.p->n_code};
    }
}

/* ---- Instructions ---- */

static int32_t register_number(const char *s)
{
    struct func *f = &as.p->funcs[as.func];
    if (s[0] != 'r' || !isdigit((unsigned char)s[1]))
        bad("'%.40s' is not a register; registers are r0 to r%d", s, MAX_REGISTERS - 1);
    uint32_t r = (uint32_t)number(s + 1, 0, MAX_REGISTERS - 1);
    if (r >= f->registers)
        f->registers = r + 1;
    return (int32_t)r;
}

/* Class.field, as class << 16 | slot. */
static int32_t member(const char *s, bool *ret_volatile)
{
    const char *dot = strchr(s, '.');
    for (uint32_t i = 0; dot && i < as.p->n_classes; i++) {
        struct class *k = &as.p->classes[i];
        if (strlen(k->name) != (size_t)(dot - s) || strncmp(k->name, s, (size_t)(dot - s)) != 0)
            continue;
        for (uint32_t j = 0; j < k->n_fields; j++) {
            if (strcmp(k->fields[j], dot + 1) == 0) {
                *ret_volatile = k->is_volatile[j];
                return (int32_t)(i << 16 | j);
            }
        }
    }
    bad("there is no field '%.40s'", s);
}

static int32_t must(int found, const char *what, const char *s)
{
    if (found < 0)
        bad("there is no %s '%.40s'", what, s);
    return found;
}

static int32_t operand(char kind, const char *s, bool *ret_volatile)
{
    switch (kind) {
    case 'r':
        return register_number(s);
    case 'i':
        return (int32_t)number(s, INT32_MIN, INT32_MAX);
    case 'l':
        return must(find_label(s), "label", s);
    case 'f':
        return must(find_func(s), "function", s);
    case 'c':
        return must(find_class(s), "class", s);
    case 'm':
        return member(s, ret_volatile);
    default: {
        int32_t g = must(find_global(s), "global", s);
        *ret_volatile = as.p->globals[g].is_volatile;
        return g;
    }
    }
}

/* The arguments of a call are the registers from the last operand on: all of them must exist. */
static void check_call(const struct insn *i)
{
    struct func *f = &as.p->funcs[as.func];
    const struct func *callee = &as.p->funcs[i->b];
    uint32_t args = i->op == OP_CALL ? callee->args : 1;
    if (i->op == OP_START && callee->args != 1)
        bad("a thread's function has one argument, '%.40s' has %u", callee->name, callee->args);
    if ((uint32_t)i->c + args > MAX_REGISTERS)
        bad("'%.40s' needs %u arguments, but the registers end at r%d", callee->name, args,
            MAX_REGISTERS - 1);
    if ((uint32_t)i->c + args > f->registers)
        f->registers = (uint32_t)i->c + args;
}

static void instruction(void)
{
    uint32_t op = 0;
    while (op < OP_COUNT && (op_operands[op][0] == '-' || strcasecmp(op_names[op], as.words[0]) != 0))
        op++;
    if (op == OP_COUNT)
        bad("there is no instruction '%.40s'", as.words[0]);
    if (as.func < 0)
        bad("an instruction is outside of any function");
    const char *kinds = op_operands[op];
    if (as.n_words - 1 != strlen(kinds))
        bad("'%s' has %zu operands, not %u", as.words[0], strlen(kinds), as.n_words - 1);
    struct insn i = {.op = (uint16_t)op, .line = as.line};
    if (!as.names) {
        bool is_volatile = false;
        int32_t v[3] = {0};
        for (uint32_t k = 0; kinds[k]; k++)
            v[k] = operand(kinds[k], as.words[k + 1], &is_volatile);
        i.a = (uint16_t)v[0];
        i.b = v[1];
        i.c = v[2];
        if (op == OP_INT || op == OP_AWAIT || op == OP_JMP) /* what does not fit 16 bits is b */
            i.b = v[op == OP_INT];
        if (is_volatile)
            i.op = (uint16_t)(op - OP_GET < 2 ? op - OP_GET + OP_GETV : op - OP_GGET + OP_GGETV);
        if (op == OP_CALL || op == OP_START)
            check_call(&i);
    }
    emit(i);
}

/* ---- Lines ---- */

/* Into words, at blanks and commas. */
static void split(char *line)
{
    as.n_words = 0;
    line[strcspn(line, ";")] = 0;
    for (char *w = strtok(line, " \t\r,"); w; w = strtok(NULL, " \t\r,")) {
        if (as.n_words == MAX_WORDS)
            bad("there are more than %d words on a line", MAX_WORDS);
        as.words[as.n_words++] = w;
    }
}

static void one_line(void)
{
    const char *word = as.words[0];
    if (strcmp(word, "class") == 0)
        define_class();
    else if (strcmp(word, "global") == 0)
        define_global();
    else if (strcmp(word, "func") == 0)
        define_func();
    else if (strcmp(word, "end") == 0)
        end_func();
    else if (word[strlen(word) - 1] == ':' && as.n_words == 1)
        define_label(as.words[0]);
    else
        instruction();
}

static void read_through(char *text, bool names)
{
    as.names = names;
    as.line = 0;
    as.func = -1;
    as.p->n_code = 0;
    for (char *at = text; at;) {
        char *end = strchr(at, '\n');
        if (end)
            *end = 0;
        as.line++;
        split(at);
        if (as.n_words > 0)
            one_line();
        at = end ? end + 1 : NULL;
    }
    if (as.func >= 0)
        bad("the last function has no 'end'");
}

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f)
        die("cannot read %s: %s", path, strerror(errno));
    char *text = calloc(1, MAX_TEXT + 1);
    if (!text)
        die("no memory");
    size_t n = fread(text, 1, MAX_TEXT, f);
    if (ferror(f))
        die("cannot read %s: %s", path, strerror(errno));
    if (n == MAX_TEXT)
        die("%s is no program: it is longer than %d bytes", path, MAX_TEXT);
    fclose(f);
    if (strlen(text) != n)
        die("%s is no program: it holds bytes of zero", path);
    return text;
}

void program_read(struct program *p, const char *path)
{
    as.p = p;
    p->path = path;
    p->text = read_file(path);
    char *again = strdup(p->text);
    if (!again)
        die("no memory");
    read_through(p->text, true);
    p->code = calloc(p->n_code + 1, sizeof(*p->code));
    if (!p->code)
        die("no memory");
    read_through(again, false);
    free(again); /* all names are in the first text */
    int main_func = find_func("main");
    if (main_func < 0)
        die("%s has no function 'main'", path);
    if (p->funcs[main_func].args != 0)
        die("%s: the function 'main' has no arguments", path);
}
