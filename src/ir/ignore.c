/*
 * ignore.c - what the user excludes from instrumentation in a function: -fsanitize-ignorelist= and
 * -fno-sanitize-thread-...
 *
 * They mean what they mean to ThreadSanitizer (clang's "Sanitizer special case list"). A function that a list
 * names by `fun:`, `src:` or `mainfile:` loses the checks of its plain accesses. Its atomic operations still
 * order other threads, and it stays on the shadow call stack, so that the list
 * does not cause other reports. The other options omit the same for a whole file, or the atomic operations,
 * or the shadow call stack.
 *
 * The choice becomes an attribute of the function before the optimiser runs, which is preserved in
 * copies of it and in bitcode. A list's `src:` refers to the source file of a function, which only the front
 * end knows: src/ir/attributes.cpp annotates those.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"

static const char key[] = "deadheat-leave-out";
static const LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

/* As src/cli/cc_sanitize.c names them, and clang. */
static const struct {
    const char *word;
    unsigned bit;
} words[] = {{"memory-access", DH_IR_LEAVE_PLAIN},
             {"atomics", DH_IR_LEAVE_ATOMIC},
             {"func-entry-exit", DH_IR_LEAVE_FRAME}};

static unsigned parse(const char *text, size_t len)
{
    unsigned bits = 0;
    for (size_t i = 0, n; i < len; i += n + 1) {
        for (n = 0; i + n < len && text[i + n] != ','; n++)
            ;
        for (size_t k = 0; k < DH_ARRAY_LEN(words); k++)
            if (strlen(words[k].word) == n && memcmp(words[k].word, text + i, n) == 0)
                bits |= words[k].bit;
    }
    return bits;
}

unsigned dh_ir_ignore_get(LLVMValueRef fn)
{
    LLVMAttributeRef attribute = LLVMGetStringAttributeAtIndex(fn, whole, key, sizeof(key) - 1);
    unsigned len = 0;
    const char *value = attribute ? LLVMGetStringAttributeValue(attribute, &len) : "";
    return parse(value, len);
}

bool dh_ir_ignores_plain(LLVMValueRef fn)
{
    return dh_ir_ignore_get(fn) & DH_IR_LEAVE_PLAIN;
}

void dh_ir_ignore_add(LLVMValueRef fn, unsigned bits)
{
    char value[64] = "";
    bits |= dh_ir_ignore_get(fn);
    for (size_t k = 0; k < DH_ARRAY_LEN(words); k++) {
        if (!(bits & words[k].bit))
            continue;
        strcat(value, value[0] ? "," : "");
        strcat(value, words[k].word);
    }
    LLVMContextRef ctx = LLVMGetModuleContext(LLVMGetGlobalParent(fn));
    LLVMAddAttributeAtIndex(
        fn, whole, LLVMCreateStringAttribute(ctx, key, sizeof(key) - 1, value, (unsigned)strlen(value)));
}

/* Functions that clang makes up have no place in the source: they count as being in the main file. */
static bool is_made_up(const char *name)
{
    static const char *const prefixes[] = {"_GLOBAL__", "__cxx_global_var_init", "__cxx_global_array_dtor",
                                           "__tls_init"};
    for (size_t i = 0; i < DH_ARRAY_LEN(prefixes); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

void dh_ir_ignore_mark(LLVMModuleRef m)
{
    const char *given = getenv("DEADHEAT_LEAVE_OUT");
    unsigned all = given ? parse(given, strlen(given)) : 0;
    size_t len;
    const char *file = LLVMGetSourceFileName(m, &len);
    if (dh_shim_ignorelist_has("mainfile", file))
        all |= DH_IR_LEAVE_PLAIN;
    bool main_file = dh_shim_ignorelist_has("src", file);
    for (LLVMValueRef fn = LLVMGetFirstFunction(m); fn; fn = LLVMGetNextFunction(fn)) {
        const char *name = LLVMGetValueName2(fn, &len);
        unsigned bits = all;
        if (LLVMIsDeclaration(fn))
            continue;
        if (dh_shim_ignorelist_has("fun", name) || (main_file && is_made_up(name)))
            bits |= DH_IR_LEAVE_PLAIN;
        if (bits)
            dh_ir_ignore_add(fn, bits);
    }
}
