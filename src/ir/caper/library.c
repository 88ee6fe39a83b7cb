/*
 * library.c - calls of functions described by whole/library.def: what they keep, copy, link, allocate and
 * free.
 *
 * An argument is harmless only if an effect says what is done with it; a pointer that no effect names
 * escapes. What the library itself frees or moves (getline) must not be treated as private afterwards, so the
 * target of a pointer in the argument's memory escapes beforehand.
 */
#include <string.h>

#include "ir/caper/caper.h"
#include "ir/whole/library.h"

enum { MAX_ARGS = 32, WORD = 8 };

struct library {
    struct dh_caper *c;
    LLVMValueRef call;
    int n;                /* arguments */
    bool named[MAX_ARGS]; /* an effect says what is done with it */
    bool kept[MAX_ARGS];  /* ... or that it is kept */
    bool calls_back;
    bool calls_later; /* what it is given for a function that it calls back is kept until then */
    bool elements;    /* the argument behind a length says how often there is so much: fwrite */
};

static LLVMValueRef argument(const struct library *l, int i)
{
    return i >= 0 && i < l->n ? LLVMGetOperand(l->call, (unsigned)i) : NULL;
}

static bool is_pointer(LLVMValueRef v)
{
    return v && LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
}

static void name(struct library *l, int i)
{
    if (i >= 0 && i < MAX_ARGS)
        l->named[i] = true;
}

static void keep(struct library *l, int i)
{
    if (i >= 0 && i < MAX_ARGS)
        l->kept[i] = true;
}

static void contents(struct library *l, int arg, LLVMValueRef n, u64 constant)
{
    LLVMValueRef src = argument(l, arg);
    if (is_pointer(src) && dh_caper_has(l->c, DH_CAPER_RULE_CONTENTS))
        dh_caper_contents(l->c, l->call, src, n, constant);
}

/* What goes to other threads by a file or a pipe. Without a length: all of the block. */
static void send(struct library *l, const struct dh_w_effect *e)
{
    LLVMValueRef n = argument(l, e->length_arg);
    size_t before = l->c->n_acts;
    if (e->n_deref == 0 && (n || e->length))
        contents(l, e->n, n, e->length);
    else
        keep(l, e->n);
    if (l->elements && l->c->n_acts > before)
        l->c->acts[before].times = argument(l, e->length_arg + 1);
}

static void copy(struct library *l, const struct dh_w_effect *e)
{
    LLVMValueRef dst = argument(l, e->n), src = argument(l, e->m), n = argument(l, e->length_arg);
    name(l, e->n);
    name(l, e->m);
    if (!is_pointer(dst) || !is_pointer(src))
        return;
    if (n)
        dh_caper_copy(l->c, l->call, dst, src, n);
    else
        keep(l, e->m);
}

static void store(struct library *l, int dst, int value)
{
    LLVMValueRef a = argument(l, dst), b = argument(l, value);
    if (!is_pointer(a) || !is_pointer(b) || dst == value || !dh_caper_has(l->c, DH_CAPER_RULE_LINK) ||
        !dh_caper_value_carries(l->c, b) || LLVMIsAConstantPointerNull(a))
        return;
    struct dh_caper_act *act = dh_caper_act_add(l->c, DH_CAPER_STORE, l->call);
    act->a = a;
    act->b = b;
}

/* Nodes of containers of the C++ library: each may point to each. */
static void link(struct library *l, const struct dh_w_effect *e)
{
    const int nodes[] = {e->n, e->m, e->k};
    for (size_t i = 0; i < DH_ARRAY_LEN(nodes); i++)
        for (size_t j = 0; j < DH_ARRAY_LEN(nodes); j++)
            if (i != j && nodes[i] >= 0 && nodes[j] >= 0)
                store(l, nodes[i], nodes[j]);
    for (size_t i = 0; i < DH_ARRAY_LEN(nodes); i++)
        name(l, nodes[i]);
}

/* A pointer in the memory of argument n is followed: what it leads to may be changed, freed, kept. */
static void follow(struct library *l, const struct dh_w_effect *e)
{
    u64 most = 0;
    bool anywhere = false;
    for (int i = 0; i < e->n_deref && i < 1; i++) {
        anywhere |= e->deref[i] == DH_W_ANYWHERE;
        most = e->deref[i] > 0 ? (u64)e->deref[i] : 0;
    }
    name(l, e->n);
    if (anywhere)
        keep(l, e->n);
    else
        contents(l, e->n, NULL, most + WORD);
}

static void name_callback(struct library *l, const struct dh_w_effect *e)
{
    l->calls_back = true;
    name(l, e->n);
    for (int i = 0; i < e->n_args; i++)
        if (l->calls_later)
            keep(l, e->args[i]);
        else
            name(l, e->args[i]);
}

/* How many of the arguments behind a format it prints as strings, or stores a count in; -1: not known. */
static int count_followed(LLVMValueRef format)
{
    LLVMValueRef text = format && LLVMIsAGlobalVariable(format) ? LLVMGetInitializer(format) : NULL;
    size_t n = 0;
    int followed = 0;
    if (!text || !LLVMIsGlobalConstant(format) || !LLVMIsAConstantDataArray(text) ||
        !LLVMIsConstantString(text))
        return -1;
    const char *at = LLVMGetAsString(text, &n), *end = at + n;
    while (at < end) {
        if (*at++ != '%')
            continue;
        while (at < end && *at && strchr("-+ #0'I123456789.*hlqjzZtL", *at))
            at++;
        if (at < end && *at == '$')
            return -1;
        followed += at < end && (*at == 's' || *at == 'n');
        at += at < end;
    }
    return followed;
}

/* What printf is given behind its format. If there are more pointers than it follows, it prints one of them
 * as a number ("%p"), from which the pointer can be made again. */
static void name_rest(struct library *l, int first)
{
    int pointers = 0, followed = count_followed(argument(l, first - 1));
    for (int i = first; i < l->n; i++)
        pointers += is_pointer(argument(l, i));
    for (int i = first; i < l->n; i++)
        if (pointers > followed)
            keep(l, i);
        else
            name(l, i);
}

static void apply(struct library *l, const struct dh_w_effect *e)
{
    switch (e->kind) {
    case DH_W_EFFECT_READ:
    case DH_W_EFFECT_WRITE:
        if (e->n_deref > 0)
            follow(l, e);
        if (e->rest)
            name_rest(l, e->n);
        else
            name(l, e->n);
        break;
    case DH_W_EFFECT_RETURN:
    case DH_W_EFFECT_FREE:
    case DH_W_EFFECT_LOCK:
    case DH_W_EFFECT_UNLOCK:
    case DH_W_EFFECT_WAIT:
    case DH_W_EFFECT_BARRIER:
    case DH_W_EFFECT_RENEW:
    case DH_W_EFFECT_RECEIVE:
    case DH_W_EFFECT_WALK:
        name(l, e->n);
        break;
    case DH_W_EFFECT_JOIN:
    case DH_W_EFFECT_RESULT:
        name(l, e->n);
        name(l, e->m);
        break;
    case DH_W_EFFECT_SCAN:
        name(l, e->n);
        for (int i = e->m; i < l->n; i++) {
            name(l, i);
            contents(l, i, NULL, 1); /* %ms stores a pointer */
        }
        break;
    case DH_W_EFFECT_NEW_AT:
        name(l, e->n);
        contents(l, e->n, NULL, WORD);
        break;
    case DH_W_EFFECT_COPY:
        copy(l, e);
        break;
    case DH_W_EFFECT_SEND:
        name(l, e->n);
        send(l, e);
        break;
    case DH_W_EFFECT_POINT:
        name(l, e->n);
        name(l, e->m);
        if (e->n_deref == 0)
            store(l, e->n, e->m);
        break;
    case DH_W_EFFECT_LIST:
    case DH_W_EFFECT_TREE:
        link(l, e);
        break;
    case DH_W_EFFECT_CALL:
        name_callback(l, e);
        break;
    case DH_W_EFFECT_ONCE:
        l->calls_back = true;
        name(l, e->n);
        name(l, e->m);
        break;
    case DH_W_EFFECT_NOTIFY:
        keep(l, e->n);
        break;
    case DH_W_EFFECT_LENT:
    case DH_W_EFFECT_NEW:
    case DH_W_EFFECT_FOREIGN:
    case DH_W_EFFECT_LOCAL:
    case DH_W_EFFECT_GET:
    case DH_W_EFFECT_USE:
    case DH_W_EFFECT_HELD:
    case DH_W_EFFECT_MAP:
    case DH_W_EFFECT_AGAIN:
    case DH_W_EFFECT_CATCH:
    case DH_W_EFFECT_STOP:
        break;
    default: /* it is kept, or handed to another thread */
        keep(l, e->n);
        keep(l, e->m);
        keep(l, e->k);
        for (int i = 0; i < e->n_args; i++)
            keep(l, e->args[i]);
        break;
    }
}

static bool is_thread(const char *name)
{
    return strcmp(name, "pthread_create") == 0 || strcmp(name, "thrd_create") == 0;
}

/* No effect names them: streams are the library's own memory. But the environment is made of what putenv is
 * given, optarg is an argument that getopt has found, and system calls do what they do. */
static bool is_known_harmless(const char *function, const char *effects)
{
    static const char *const others[] = {"putenv", "getopt", "getopt_long", "syscall"};
    for (size_t i = 0; i < DH_ARRAY_LEN(others); i++)
        if (strcmp(function, others[i]) == 0)
            return false;
    return effects[0] == '\0';
}

/* libevent calls from the loop of an event base, in whatever thread runs it. */
static bool calls_later(const char *function)
{
    return strncmp(function, "event_", strlen("event_")) == 0;
}

bool dh_caper_is_length(const char *effects, int arg)
{
    struct dh_w_effect e;
    bool is = false;
    while (!is && dh_w_effect_next(&effects, &e))
        is = e.length_arg == arg || e.count_arg == arg;
    return is;
}

/* isdigit, tolower and their like keep nothing. */
static bool looks_at_characters(const char *function)
{
    return strncmp(function, "is", 2) == 0 || strncmp(function, "to", 2) == 0;
}

/* Numbers that may be pieces of pointers: putc, ungetc, lseek. */
static void give_numbers(const struct library *l, const char *function, const char *effects)
{
    for (int i = 0; i < l->n && !looks_at_characters(function); i++)
        if (!is_pointer(argument(l, i)) && !dh_caper_is_length(effects, i))
            dh_caper_give_pieces(l->c, argument(l, i), false);
}

bool dh_caper_plan_library(struct dh_caper *c, LLVMValueRef call, const char *function)
{
    const char *effects = dh_w_library(function), *at = effects;
    struct library l = {.c = c, .call = call, .n = (int)LLVMGetNumArgOperands(call)};
    struct dh_w_effect e;
    if (effects == NULL)
        return false;
    if (is_thread(function))
        return true; /* replaced: emit.c */
    l.elements = strncmp(function, "fwrite", strlen("fwrite")) == 0;
    l.calls_later = calls_later(function);
    while (dh_w_effect_next(&at, &e))
        apply(&l, &e);
    bool harmless = is_known_harmless(function, effects);
    for (int i = 0; i < l.n && dh_caper_has(c, DH_CAPER_RULE_CALL); i++)
        if (i >= MAX_ARGS || l.kept[i] || (!l.named[i] && !harmless && is_pointer(argument(&l, i))))
            dh_caper_publish(c, call, argument(&l, i));
    give_numbers(&l, function, effects);
    if (l.calls_back && dh_caper_has(c, DH_CAPER_RULE_RETURN)) {
        dh_caper_act_add(c, DH_CAPER_LEAVE, call);
        dh_caper_act_add(c, DH_CAPER_ENTER, call)->after = true;
    }
    return true;
}

/* ---- blocks ---- */

static bool is_realloc(const char *name)
{
    return strcmp(name, "realloc") == 0 || strcmp(name, "reallocarray") == 0;
}

/* Whether a call only stores a pointer to new memory there. */
static bool is_filled_by(LLVMValueRef call, LLVMValueRef ptr)
{
    size_t len;
    LLVMValueRef callee = LLVMIsACallInst(call) ? LLVMIsAFunction(LLVMGetCalledValue(call)) : NULL;
    const char *effects = callee ? dh_w_library(LLVMGetValueName2(callee, &len)) : NULL;
    struct dh_w_effect e;
    while (effects && dh_w_effect_next(&effects, &e))
        if (e.kind == DH_W_EFFECT_NEW_AT && e.n >= 0 && LLVMGetOperand(call, (unsigned)e.n) == ptr)
            return true;
    return callee && LLVMGetIntrinsicID(callee) != 0;
}

/* Whether a local variable is known to nobody but its function, and to the library while that fills it. */
static bool is_known_here_only(LLVMValueRef ptr)
{
    for (LLVMUseRef use = LLVMGetFirstUse(ptr); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool access = LLVMIsALoadInst(user) || (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) != ptr);
        bool part = LLVMIsAGetElementPtrInst(user) && is_known_here_only(user);
        if (!access && !part && !is_filled_by(user, ptr))
            return false;
    }
    return true;
}

static bool is_variable(void *arg, LLVMValueRef object)
{
    (void)arg;
    return LLVMIsAGlobalVariable(object) || (LLVMIsAAllocaInst(object) && !is_known_here_only(object));
}

static bool may_be_known(void *arg, LLVMValueRef object)
{
    return dh_shim_is_byval_argument(object) || is_variable(arg, object);
}

bool dh_caper_holds_escaped(struct dh_caper *c, LLVMValueRef ptr)
{
    return dh_caper_place_of(c, ptr) == DH_CAPER_ESCAPED &&
           (LLVMGetPointerAddressSpace(LLVMTypeOf(ptr)) != 0 || dh_shim_each_object(ptr, may_be_known, NULL));
}

/* The library stores the pointer where others can reach it. */
static bool is_born_escaped(const struct library *l, const struct dh_w_effect *e)
{
    return e->kind == DH_W_EFFECT_NEW_AT && dh_caper_has(l->c, DH_CAPER_RULE_LINK) &&
           dh_shim_each_object(argument(l, e->n), is_variable, NULL);
}

/* Only what says how long it is; the rest counts as escaped from its beginning. */
void dh_caper_plan_allocation(struct dh_caper *c, LLVMValueRef call, const char *function)
{
    const char *effects = dh_w_library(function);
    struct library l = {.c = c, .call = call, .n = (int)LLVMGetNumArgOperands(call)};
    struct dh_w_effect e;
    if (effects == NULL || is_realloc(function))
        return;
    while (dh_w_effect_next(&effects, &e)) {
        LLVMValueRef n = argument(&l, e.length_arg), p = argument(&l, e.n);
        if (e.kind == DH_W_EFFECT_FREE && is_pointer(p) && dh_caper_has(c, DH_CAPER_RULE_FREE))
            dh_caper_act_add(c, DH_CAPER_FREE, call)->a = p;
        if (!n || (e.kind != DH_W_EFFECT_NEW && e.kind != DH_W_EFFECT_NEW_AT) || is_born_escaped(&l, &e))
            continue;
        struct dh_caper_act *act = dh_caper_act_add(c, DH_CAPER_NEW, call);
        act->after = true;
        act->a = e.kind == DH_W_EFFECT_NEW ? call : p;
        act->loaded = e.kind == DH_W_EFFECT_NEW_AT;
        /* (A local counts as known elsewhere because of this very call, which does not keep it.) */
        if (act->loaded && dh_caper_has(c, DH_CAPER_RULE_LINK) &&
            dh_caper_place_of(c, p) == DH_CAPER_SOMEWHERE)
            act->b = p;
        act->n = n;
        act->times = argument(&l, e.count_arg);
    }
}
