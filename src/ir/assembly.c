/*
 * assembly.c - how inline assembly may order threads, as far as its text shows (base/built.h).
 *
 * Empty barriers, instructions that access no memory, and fences are recognised. Anything else is assumed to
 * access memory: that can only make more of a program's accesses count as synchronisation.
 */
#include <ctype.h>
#include <string.h>

#include "base/built.h"
#include "ir/ir.h"

/* A part of the text. */
struct piece {
    const char *at;
    size_t n;
};

static bool is_one_of(struct piece word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(list[i]) == word.n && strncmp(word.at, list[i], word.n) == 0)
            return true;
    return false;
}

static bool begins_with(struct piece word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (word.n >= strlen(list[i]) && strncmp(word.at, list[i], strlen(list[i])) == 0)
            return true;
    return false;
}

static struct piece skip_blanks(struct piece p)
{
    while (p.n && isspace((unsigned char)*p.at))
        p = (struct piece){p.at + 1, p.n - 1};
    return p;
}

/* The first word, which is taken off. */
static struct piece take_word(struct piece *p)
{
    struct piece all = skip_blanks(*p), word = {all.at, 0};
    while (word.n < all.n && !isspace((unsigned char)all.at[word.n]))
        word.n++;
    *p = skip_blanks((struct piece){all.at + word.n, all.n - word.n});
    return word;
}

/* Instructions that reach memory, or somebody who may, without naming it. */
static bool is_implicit(struct piece word)
{
    static const char *const stems[] = {"movs", "stos", "lods", "cmps", "scas",  "ins",
                                        "outs", "xlat", "call", "push", "pop",   "ret",
                                        "int",  "sys",  "xsav", "xrst", "enter", "leave"};
    return begins_with(word, stems, DH_ARRAY_LEN(stems));
}

/* `1f` and `1b` are places to jump to. All else that is not a register, an immediate or an operand of the
 * template is the name of something in memory, or another dialect. */
static bool names_memory(struct piece word, struct piece operands)
{
    bool jump = word.n && word.at[0] == 'j', begins = true;
    for (size_t i = 0; i < operands.n; i++) {
        char c = operands.at[i];
        if (strchr("([", c) || (c == ':' && i + 1 < operands.n && strchr("acPA", operands.at[i + 1])))
            return true;
        if (begins && !jump && (isalnum((unsigned char)c) || c == '_' || c == '.'))
            return true;
        begins = c == ',' || (begins && isspace((unsigned char)c));
    }
    return false;
}

/* *ret_computes: it is something else, and accesses memory only by an operand of the template. */
static u32 statement_word(struct piece text, bool *ret_computes)
{
    static const char *const prefixes[] = {"rep",   "repe", "repz",   "repne",
                                           "repnz", "lock", "data16", "notrack"};
    static const char *const harmless[] = {"nop", "pause", "cpuid", "rdtsc", "rdtscp", "xgetbv", "endbr64"};
    static const char *const prefetch[] = {"prefetch"};
    static const char *const fences[] = {"mfence", "lfence", "sfence"};
    static const char *const directives[] = {".align", ".p2align", ".balign", ".loc"};
    struct piece word = take_word(&text);
    while (word.n && (word.at[word.n - 1] == ':' || is_one_of(word, prefixes, DH_ARRAY_LEN(prefixes))))
        word = take_word(&text);
    if (!word.n || is_one_of(word, harmless, DH_ARRAY_LEN(harmless)) ||
        begins_with(word, prefetch, DH_ARRAY_LEN(prefetch)) ||
        is_one_of(word, directives, DH_ARRAY_LEN(directives)))
        return 0;
    if (is_one_of(word, fences, DH_ARRAY_LEN(fences)))
        return DH_BUILT_FENCE;
    if (word.at[0] == '.' || is_implicit(word) || names_memory(word, text))
        return DH_BUILT_ASSEMBLY;
    *ret_computes = true;
    return 0;
}

/* Does the code get the address of an operand? */
static bool has_memory_operand(LLVMValueRef call)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("elementtype", strlen("elementtype"));
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
        if (LLVMGetCallSiteEnumAttribute(call, i + 1, kind) != NULL)
            return true;
    return false;
}

u32 dh_ir_assembly_word(LLVMValueRef call)
{
    size_t len;
    const char *text = LLVMGetInlineAsmAsmString(LLVMGetCalledValue(call), &len);
    u32 all = 0;
    bool computes = false;
    for (size_t i = 0, from = 0; i <= len; i++) {
        size_t end = i;
        while (i < len && text[end] == '#' && text[i] != '\n') /* a comment */
            i++;
        if (i < len && text[i] != '\n' && text[i] != ';')
            continue;
        all |= statement_word((struct piece){text + from, end - from}, &computes);
        from = i + 1;
    }
    return all | (computes && has_memory_operand(call) ? DH_BUILT_ASSEMBLY : 0);
}
