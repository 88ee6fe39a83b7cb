/*
 * shorten.c - C++ names as people write them: without default template arguments and the inline namespaces of
 * the standard library, and with `std::string` for its expansion.
 *
 * The demangler's text is read once from left to right and written to a buffer of the same size: the result
 * is never longer. Brackets are tracked, since template arguments end at a comma or bracket at their own
 * depth; an argument is compared with the default after it has been shortened itself. Text that is not
 * understood, because brackets do not match or are nested too deeply, stays unchanged.
 */
#include <string.h>

#include "report/symbol.h"

enum { MAX_DEPTH = 200, MAX_ARGS = 5 };

/* A template of the standard library, and its defaults: \1 and \2 are the first two arguments. */
struct template
{
    const char *name;
    const char *defaults[MAX_ARGS]; /* NULL: that argument always stays */
};

static const struct template templates[] = {
    {"vector", {[1] = "std::allocator<\1>"}},
    {"deque", {[1] = "std::allocator<\1>"}},
    {"list", {[1] = "std::allocator<\1>"}},
    {"forward_list", {[1] = "std::allocator<\1>"}},
    {"set", {[1] = "std::less<\1>", "std::allocator<\1>"}},
    {"multiset", {[1] = "std::less<\1>", "std::allocator<\1>"}},
    {"map", {[2] = "std::less<\1>", "std::allocator<std::pair<\1 const, \2>>"}},
    {"multimap", {[2] = "std::less<\1>", "std::allocator<std::pair<\1 const, \2>>"}},
    {"unordered_set", {[1] = "std::hash<\1>", "std::equal_to<\1>", "std::allocator<\1>"}},
    {"unordered_multiset", {[1] = "std::hash<\1>", "std::equal_to<\1>", "std::allocator<\1>"}},
    {"unordered_map",
     {[2] = "std::hash<\1>", "std::equal_to<\1>", "std::allocator<std::pair<\1 const, \2>>"}},
    {"unordered_multimap",
     {[2] = "std::hash<\1>", "std::equal_to<\1>", "std::allocator<std::pair<\1 const, \2>>"}},
    {"unique_ptr", {[1] = "std::default_delete<\1>"}},
    {"queue", {[1] = "std::deque<\1>"}},
    {"stack", {[1] = "std::deque<\1>"}},
    {"priority_queue", {[1] = "std::vector<\1>", "std::less<\1>"}},
    {"istreambuf_iterator", {[1] = "std::char_traits<\1>"}},
    {"ostreambuf_iterator", {[1] = "std::char_traits<\1>"}},
    {"ostream_iterator", {[1] = "char", "std::char_traits<char>"}},
    {"istream_iterator", {[1] = "char", "std::char_traits<char>", "long"}},
    /* Instances for characters, which have their own names: "basic_string<char>" is "string". */
    {"basic_string", {[1] = "std::char_traits<\1>", "std::allocator<\1>"}},
    {"basic_string_view", {[1] = "std::char_traits<\1>"}},
    {"basic_ios", {[1] = "std::char_traits<\1>"}},
    {"basic_streambuf", {[1] = "std::char_traits<\1>"}},
    {"basic_istream", {[1] = "std::char_traits<\1>"}},
    {"basic_ostream", {[1] = "std::char_traits<\1>"}},
    {"basic_iostream", {[1] = "std::char_traits<\1>"}},
    {"basic_filebuf", {[1] = "std::char_traits<\1>"}},
    {"basic_ifstream", {[1] = "std::char_traits<\1>"}},
    {"basic_ofstream", {[1] = "std::char_traits<\1>"}},
    {"basic_fstream", {[1] = "std::char_traits<\1>"}},
    {"basic_stringbuf", {[1] = "std::char_traits<\1>", "std::allocator<\1>"}},
    {"basic_istringstream", {[1] = "std::char_traits<\1>", "std::allocator<\1>"}},
    {"basic_ostringstream", {[1] = "std::char_traits<\1>", "std::allocator<\1>"}},
    {"basic_stringstream", {[1] = "std::char_traits<\1>", "std::allocator<\1>"}},
    {"basic_regex", {[1] = "std::regex_traits<\1>"}},
};

struct text {
    const char *at;
    size_t len;
};

struct state {
    const char *in;
    char *out;
    size_t n;           /* bytes of out in use */
    const char *closed; /* in `in`: after the last bracket that ended template arguments */
    int depth;
    bool bad;
};

static void emit(struct state *s, size_t len)
{
    memcpy(s->out + s->n, s->in, len);
    s->n += len;
    s->in += len;
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || (unsigned char)c >= 0x80;
}

static size_t word_length(const char *at)
{
    size_t n = 0;
    while (is_word(at[n]))
        n++;
    return n;
}

static bool is_text(struct text t, const char *word)
{
    return t.len == strlen(word) && memcmp(t.at, word, t.len) == 0;
}

/* ---- Template arguments -------------------------------------------------------------------------------- */

static void sequence(struct state *s, const char *stops);

struct arguments {
    struct text at[MAX_ARGS]; /* in out */
    size_t n;                 /* may be more */
};

static bool is_default(const char *pattern, const struct arguments *args, struct text t)
{
    size_t i = 0;
    for (; pattern && *pattern; pattern++) {
        struct text piece = {pattern, 1};
        if (*pattern == '\1' || *pattern == '\2')
            piece = args->at[*pattern - '\1'];
        if (piece.len > t.len - i || memcmp(t.at + i, piece.at, piece.len) != 0)
            return false;
        i += piece.len;
    }
    return pattern && i == t.len;
}

/* "basic_ostream" of these arguments is "wostream". The prefix, or NULL. */
static const char *alias_prefix(struct text character)
{
    static const char *const prefixes[][2] = {
        {"char", ""}, {"wchar_t", "w"}, {"char8_t", "u8"}, {"char16_t", "u16"}, {"char32_t", "u32"}};
    for (size_t i = 0; i < DH_ARRAY_LEN(prefixes); i++) {
        if (is_text(character, prefixes[i][0]))
            return prefixes[i][1];
    }
    return NULL;
}

/* "std::basic_string<char" was written from `name` on: make it "std::string". Returns the last word. */
static struct text write_alias(struct state *s, size_t name, const char *prefix)
{
    static const char std[] = "std::", basic[] = "basic_";
    char *to = s->out + name + strlen(std), *from = to + strlen(basic);
    size_t len = word_length(from), before = strlen(prefix);
    memmove(to + before, from, len);
    memcpy(to, prefix, before);
    s->n = (size_t)(to - s->out) + before + len;
    return (struct text){to, before + len};
}

static const struct template *find_template(struct text name)
{
    if (name.len < 5 || memcmp(name.at, "std::", 5) != 0)
        return NULL;
    for (size_t i = 0; i < DH_ARRAY_LEN(templates); i++) {
        if (is_text((struct text){name.at + 5, name.len - 5}, templates[i].name))
            return &templates[i];
    }
    return NULL;
}

/* At the bracket after a name that was written from `name` on. Returns the name that replaced the
 * template's, if any. */
static struct text template_arguments(struct state *s, size_t name)
{
    const struct template *t = find_template((struct text){s->out + name, s->n - name});
    struct arguments args = {.n = 0};
    do {
        emit(s, 1); /* the bracket, or a comma */
        while (*s->in == ' ')
            emit(s, 1);
        size_t begin = s->n;
        sequence(s, ",>");
        if (args.n < MAX_ARGS)
            args.at[args.n] = (struct text){s->out + begin, s->n - begin};
        args.n++;
    } while (!s->bad && *s->in == ',');
    if (s->bad || !*s->in) {
        s->bad = true;
        return (struct text){0};
    }
    s->in++;
    s->closed = s->in;
    if (t && args.n <= MAX_ARGS) {
        while (args.n > 1 && is_default(t->defaults[args.n - 1], &args, args.at[args.n - 1]))
            args.n--;
        struct text last = args.at[args.n - 1];
        s->n = (size_t)(last.at + last.len - s->out);
    }
    const char *prefix = t && args.n == 1 && starts(t->name, "basic_") ? alias_prefix(args.at[0]) : NULL;
    if (prefix)
        return write_alias(s, name, prefix);
    s->out[s->n++] = '>';
    return (struct text){0};
}

/* ---- Names --------------------------------------------------------------------------------------------- */

/* After the word `operator`: characters that are not brackets here. */
static void operator_sign(struct state *s)
{
    static const char *const signs[] = {
        "()", "[]", "<=>", "<<=", ">>=", "->*", "->", "<<", ">>", "<=", ">=", "<",  ">",
        "&&", "||", "++",  "--",  "==",  "!=",  "+=", "-=", "*=", "/=", "%=", "^=", "&=",
        "|=", "+",  "-",   "*",   "/",   "%",   "^",  "&",  "|",  "~",  "!",  "=",  ","};
    for (size_t i = 0; i < DH_ARRAY_LEN(signs); i++) {
        if (!starts(s->in, signs[i]))
            continue;
        emit(s, strlen(signs[i]));
        if (starts(s->in, " <")) /* operator< <int> */
            emit(s, 1);
        return;
    }
}

/* One that is a part of names only because the library's versions differ. */
static bool is_inline_namespace(struct text word)
{
    return is_text(word, "__cxx11") || is_text(word, "__1") || is_text(word, "_V2");
}

/* A name with all its qualifiers: a::b<c>::d. */
static void name(struct state *s, bool qualified)
{
    size_t begin = s->n;
    bool in_std = !qualified && starts(s->in, "std::");
    struct text class = {0}, alias = {0}; /* the qualifier, and what was written for it */
    for (;;) {
        struct text word = {s->in, word_length(s->in)};
        if (in_std && is_inline_namespace(word) && starts(s->in + word.len, "::")) {
            s->in += word.len + 2;
            continue;
        }
        if (alias.len && word.len == class.len && memcmp(word.at, class.at, word.len) == 0) {
            memmove(s->out + s->n, alias.at, alias.len); /* constructors are named after the class */
            s->n += alias.len;
            s->in += word.len;
        } else {
            emit(s, word.len);
        }
        if (is_text(word, "operator"))
            operator_sign(s);
        while (starts(s->in, "[abi:")) {
            const char *end = strchr(s->in, ']');
            if (!end)
                return; /* and the bracket is found to be open */
            s->in = end + 1;
        }
        class = word;
        alias = *s->in == '<' ? template_arguments(s, begin) : (struct text){0};
        if (s->bad || !starts(s->in, "::"))
            return;
        emit(s, 2);
        if (*s->in == '~')
            emit(s, 1);
        if (!is_word(*s->in))
            return;
    }
}

/* ---- Everything else ----------------------------------------------------------------------------------- */

static void bracket(struct state *s, const char *closing)
{
    emit(s, 1);
    sequence(s, closing);
    if (s->bad || *s->in != *closing)
        s->bad = true;
    else
        emit(s, 1);
}

/* Up to one of the characters, or the end. */
static void sequence(struct state *s, const char *stops)
{
    if (++s->depth > MAX_DEPTH)
        s->bad = true;
    while (!s->bad && *s->in && !strchr(stops, *s->in)) {
        char c = *s->in;
        if (is_word(c))
            name(s, s->n >= 2 && s->out[s->n - 1] == ':' && s->out[s->n - 2] == ':');
        else if (c == '(')
            bracket(s, ")");
        else if (c == '[')
            bracket(s, "]");
        else if (c == '{')
            bracket(s, "}");
        else if (strchr(")]}", c) || (c == '>' && s->depth == 1))
            s->bad = true;
        else if (starts(s->in, "->"))
            emit(s, 2);
        else if (c == ' ' && s->in[1] == '>' && s->closed == s->in && strchr(stops, '>'))
            s->in++; /* as it was needed before C++11 */
        else
            emit(s, 1);
    }
    s->depth--;
}

const char *dh_symbol_shorten(struct dh_arena *arena, const char *full)
{
    if (!strstr(full, "std::") && !strchr(full, '<') && !strchr(full, '['))
        return full;
    struct state s = {.in = full, .out = dh_arena_alloc(arena, strlen(full) + 1)};
    sequence(&s, "");
    s.out[s.n] = 0;
    return s.bad || *s.in || strcmp(s.out, full) == 0 ? full : s.out;
}
