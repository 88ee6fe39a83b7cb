/*
 * library.c - looks up library.def, library_wide.def and library_cxx.def, and reads their effects.
 *
 * The effects are parsed when a call is encountered: a program has at most a few hundred different functions,
 * and a reader can check a table of text against a manual page.
 */
#include "ir/whole/library.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report/pairs.h"

struct entry {
    const char *name, *effects;
};

static const struct entry entries[] = {
#define DH_LIBRARY(name, effects) {name, effects},
#define DH_LIBRARY_FAMILY(prefix, effects)
#include "ir/whole/library.def"
#include "ir/whole/library_cxx.def"
#include "ir/whole/library_wide.def"
#undef DH_LIBRARY
#undef DH_LIBRARY_FAMILY
};

static const struct entry families[] = {
#define DH_LIBRARY(name, effects)
#define DH_LIBRARY_FAMILY(prefix, effects) {prefix, effects},
#include "ir/whole/library.def"
#include "ir/whole/library_cxx.def"
#include "ir/whole/library_wide.def"
#undef DH_LIBRARY
#undef DH_LIBRARY_FAMILY
};

/* Open addressing; filled on first use. */
static const struct entry *slots[2048];

static size_t start(const char *name)
{
    u64 h = 0;
    for (const char *c = name; *c != 0; c++)
        h = h * 31 + (u8)*c;
    return dh_hash64(h) % DH_ARRAY_LEN(slots);
}

static const struct entry **find(const char *name)
{
    size_t i = start(name);
    while (slots[i] != NULL && strcmp(slots[i]->name, name) != 0)
        i = (i + 1) % DH_ARRAY_LEN(slots);
    return &slots[i];
}

const char *dh_w_library(const char *name)
{
    _Static_assert(DH_ARRAY_LEN(entries) * 2 < DH_ARRAY_LEN(slots), "the table is too full");
    if (*find(entries[0].name) == NULL)
        for (size_t i = 0; i < DH_ARRAY_LEN(entries); i++)
            *find(entries[i].name) = &entries[i];
    const struct entry *e = *find(name);
    for (size_t i = 0; i < DH_ARRAY_LEN(families) && e == NULL; i++)
        if (strncmp(name, families[i].name, strlen(families[i].name)) == 0)
            e = &families[i];
    return e == NULL ? NULL : e->effects;
}

static const struct word {
    const char *text;
    enum dh_w_effect_kind kind;
    u8 lock_kind;
    bool shared, tries;
} words[] = {
    /* The longest first where one begins another. */
    {"rwtryrdlock", DH_W_EFFECT_LOCK, DH_PAIRS_RWLOCK, true, true},
    {"rwrdlock", DH_W_EFFECT_LOCK, DH_PAIRS_RWLOCK, true, false},
    {"rwtrylock", DH_W_EFFECT_LOCK, DH_PAIRS_RWLOCK, false, true},
    {"rwunlock", DH_W_EFFECT_UNLOCK, DH_PAIRS_RWLOCK, false, false},
    {"rwlock", DH_W_EFFECT_LOCK, DH_PAIRS_RWLOCK, false, false},
    {"spintrylock", DH_W_EFFECT_LOCK, DH_PAIRS_SPIN, false, true},
    {"spinunlock", DH_W_EFFECT_UNLOCK, DH_PAIRS_SPIN, false, false},
    {"spinlock", DH_W_EFFECT_LOCK, DH_PAIRS_SPIN, false, false},
    {"otherunlock", DH_W_EFFECT_UNLOCK, DH_PAIRS_OTHER_LOCK, false, false},
    {"otherrdlock", DH_W_EFFECT_LOCK, DH_PAIRS_OTHER_LOCK, true, false},
    {"othertrylock", DH_W_EFFECT_LOCK, DH_PAIRS_OTHER_LOCK, false, true},
    {"otherlock", DH_W_EFFECT_LOCK, DH_PAIRS_OTHER_LOCK, false, false},
    {"trylock", DH_W_EFFECT_LOCK, DH_PAIRS_MUTEX, false, true},
    {"unlock", DH_W_EFFECT_UNLOCK, DH_PAIRS_MUTEX, false, false},
    {"lock", DH_W_EFFECT_LOCK, DH_PAIRS_MUTEX, false, false},
    {"wait", DH_W_EFFECT_WAIT, DH_PAIRS_MUTEX, false, false},
    {"renew", DH_W_EFFECT_RENEW, 0, false, false},
    {"scan", DH_W_EFFECT_SCAN, 0, false, false},
    {"map", DH_W_EFFECT_MAP, 0, false, false},
    {"once", DH_W_EFFECT_ONCE, 0, false, false},
    {"send", DH_W_EFFECT_SEND, 0, false, false},
    {"receive", DH_W_EFFECT_RECEIVE, 0, false, false},
    {"post", DH_W_EFFECT_POST, 0, false, false},
    {"notify", DH_W_EFFECT_NOTIFY, 0, false, false},
    {"point", DH_W_EFFECT_POINT, 0, false, false},
    {"use", DH_W_EFFECT_USE, 0, false, false},
    {"held", DH_W_EFFECT_HELD, 0, false, false},
    {"lend", DH_W_EFFECT_LEND, 0, false, false},
    {"lent", DH_W_EFFECT_LENT, 0, false, false},
    {"again", DH_W_EFFECT_AGAIN, 0, false, false},
    {"barrier", DH_W_EFFECT_BARRIER, 0, false, false},
    {"stdfork", DH_W_EFFECT_STDFORK, 0, false, false},
    {"stdjoin", DH_W_EFFECT_STDJOIN, 0, false, false},
    {"fork", DH_W_EFFECT_FORK, 0, false, false},
    {"join", DH_W_EFFECT_JOIN, 0, false, false},
    {"result", DH_W_EFFECT_RESULT, 0, false, false},
    {"sigaction", DH_W_EFFECT_SIGACTION, 0, false, false},
    {"signal", DH_W_EFFECT_SIGNAL, 0, false, false},
    {"call", DH_W_EFFECT_CALL, 0, false, false},
    {"late", DH_W_EFFECT_LATE, 0, false, false},
    {"outsider", DH_W_EFFECT_OUTSIDER, 0, false, false},
    {"local", DH_W_EFFECT_LOCAL, 0, false, false},
    {"put", DH_W_EFFECT_PUT, 0, false, false},
    {"poll", DH_W_EFFECT_POLL, 0, false, false},
    {"list", DH_W_EFFECT_LIST, 0, false, false},
    {"tree", DH_W_EFFECT_TREE, 0, false, false},
    {"walk", DH_W_EFFECT_WALK, 0, false, false},
    {"set", DH_W_EFFECT_SET, 0, false, false},
    {"get", DH_W_EFFECT_GET, 0, false, false},
    {"catch", DH_W_EFFECT_CATCH, 0, false, false},
    {"throw", DH_W_EFFECT_THROW, 0, false, false},
    {"exit", DH_W_EFFECT_EXIT, 0, false, false},
    {"stop", DH_W_EFFECT_STOP, 0, false, false},
    {"new@", DH_W_EFFECT_NEW_AT, 0, false, false},
    {"new", DH_W_EFFECT_NEW, 0, false, false},
    {"foreign", DH_W_EFFECT_FOREIGN, 0, false, false},
    {"free", DH_W_EFFECT_FREE, 0, false, false},
    {"=", DH_W_EFFECT_RETURN, 0, false, false},
    {"m", DH_W_EFFECT_COPY, 0, false, false},
    {"r", DH_W_EFFECT_READ, 0, false, false},
    {"w", DH_W_EFFECT_WRITE, 0, false, false},
};

static int number(const char **at)
{
    if (!isdigit((unsigned char)**at))
        return -1;
    return (int)strtol(*at, (char **)at, 10);
}

static void read_call_arguments(const char **at, struct dh_w_effect *e)
{
    DH_CHECK(**at == '(');
    (*at)++;
    while (**at != ')') {
        DH_CHECK(e->n_args < (int)DH_ARRAY_LEN(e->args));
        e->args[e->n_args] = **at == '*' ? DH_W_EFFECT_SENT : **at == '@' ? DH_W_EFFECT_WHERE : number(at);
        *at += **at == '*' || **at == '@';
        e->into[e->n_args] = **at == '?';
        *at += e->into[e->n_args];
        *at += **at == ',';
        e->n_args++;
    }
    (*at)++;
}

bool dh_w_effect_next(const char **at, struct dh_w_effect *ret_effect)
{
    *at += strspn(*at, " ");
    if (**at == 0)
        return false;
    const struct word *w = words;
    while (strncmp(*at, w->text, strlen(w->text)) != 0) {
        w++;
        DH_CHECK(w < words + DH_ARRAY_LEN(words));
    }
    *at += strlen(w->text);
    struct dh_w_effect e = {.kind = w->kind,
                            .n = -1,
                            .m = -1,
                            .k = -1,
                            .length_arg = -1,
                            .count_arg = -1,
                            .lock_kind = w->lock_kind,
                            .shared = w->shared,
                            .tries = w->tries};
    e.n = number(at);
    if (e.kind == DH_W_EFFECT_CALL || e.kind == DH_W_EFFECT_LATE) {
        read_call_arguments(at, &e);
    } else {
        if (**at == ',') {
            (*at)++;
            e.m = number(at);
        }
        if (**at == ',') {
            (*at)++;
            e.k = number(at);
        }
    }
    while (**at == '>') {
        DH_CHECK(e.n_deref < (int)DH_ARRAY_LEN(e.deref));
        (*at)++;
        bool anywhere = **at == '*';
        *at += anywhere;
        e.deref[e.n_deref++] = anywhere ? DH_W_ANYWHERE : number(at);
    }
    if (**at == 'v') {
        (*at)++;
        e.list = true;
    }
    if (**at == ':') {
        (*at)++;
        e.length_arg = number(at);
        if (**at == '*') {
            (*at)++;
            e.count_arg = number(at);
        }
    } else if (**at == '=') {
        (*at)++;
        e.length = (u32)number(at);
    } else if (**at == '?') {
        (*at)++;
        e.inside = true;
    } else if (strncmp(*at, "..", 2) == 0) {
        *at += 2;
        e.rest = true;
    }
    DH_CHECK(**at == ' ' || **at == 0);
    *ret_effect = e;
    return true;
}
