/*
 * judge.c - compares the pairs that `deadheat static` found in a program with the marks in its source.
 *
 *   static-judge NAME SOURCE.c RELAY.json SOUND.json
 *
 * Marks, each at the end of a line:
 *   // PAIR a b:sound   this line is in the pairs a and b. A letter on two lines pairs them; on one line only, it pairs
 *                       the line with itself. After a colon, separated by commas, what is special about the pair,
 *                       on either line:
 *                         sound       it is in the set `sound`, but not in `relay`
 *                         relay       the other way round
 *                         ad-hoc      it is on a flag that a loop waits for
 *                         barriers, partition, published, owned, exit, callbacks, members
 *                                     it is dropped if that is assumed
 *   // NO PAIR          this line is in none
 * and, on lines of their own:
 *   // ASSUMED name n   so many cases of an assumption are counted
 *   // NO THREADS       the program creates none
 *
 * The pairs of lines must be exactly those marked, in both sets, with exactly these flags.
 */
#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LETTERS = 26, MAX_PAIRS = 256 };

enum {
    RELAY = 1,
    SOUND = 2,
    AD_HOC = 4,
    BARRIERS = 8,
    PARTITION = 16,
    PUBLISHED = 32,
    OWNED = 64,
    EXIT = 128,
    CALLBACKS = 256,
    MEMBERS = 512
};
#define DROPPABLE (BARRIERS | PARTITION | PUBLISHED | OWNED | EXIT | CALLBACKS | MEMBERS)
static const struct {
    const char *mark, *flag; /* in the source, in the JSON */
    unsigned bit;
} words[] = {
    {"relay", "relay", RELAY},
    {"sound", "sound", SOUND},
    {"ad-hoc", "ad-hoc", AD_HOC},
    {"barriers", "if-barriers", BARRIERS},
    {"partition", "if-partition", PARTITION},
    {"published", "if-published", PUBLISHED},
    {"owned", "if-owned", OWNED},
    {"exit", "if-exit", EXIT},
    {"callbacks", "if-callbacks", CALLBACKS},
    {"members", "if-members", MEMBERS},
};

struct pair {
    int line[2]; /* ascending */
    unsigned flags;
};

struct pairs {
    struct pair at[MAX_PAIRS];
    int n;
};

static char complaints[4096];

__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...)
{
    size_t used = strlen(complaints);
    va_list args;
    if (used)
        used += (size_t)snprintf(complaints + used, sizeof complaints - used, "; ");
    if (used >= sizeof complaints)
        return;
    va_start(args, format);
    vsnprintf(complaints + used, sizeof complaints - used, format, args);
    va_end(args);
}

static _Noreturn void broken(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(2);
}

static struct pair *find(struct pairs *p, int a, int b)
{
    int low = a < b ? a : b, high = a < b ? b : a;
    for (int i = 0; i < p->n; i++)
        if (p->at[i].line[0] == low && p->at[i].line[1] == high)
            return &p->at[i];
    return NULL;
}

static struct pair *add(struct pairs *p, int a, int b, unsigned flags)
{
    if (p->n == MAX_PAIRS)
        broken("too many pairs");
    p->at[p->n] = (struct pair){{a < b ? a : b, a < b ? b : a}, flags};
    return &p->at[p->n++];
}

/* ---- The marks ---- */

struct marks {
    struct letter {
        int lines, line[2];
        unsigned flags;
    } letter[LETTERS];
    struct pairs expected;
    int no_pair[MAX_PAIRS], n_no_pair;
    bool no_threads;
    struct assumed {
        char name[64];
        long count;
    } assumed[8];
    int n_assumed;
};

static void read_letter(struct marks *m, int line, char *word)
{
    char *special = strchr(word, ':');
    if (word[0] < 'a' || word[0] > 'z' || (word[1] != 0 && word[1] != ':'))
        broken("a pair is named by a letter");
    struct letter *l = &m->letter[word[0] - 'a'];
    if (l->lines == 2)
        broken("a letter on three lines");
    l->line[l->lines++] = line;
    for (char *w = special ? strtok(special + 1, ",") : NULL; w; w = strtok(NULL, ",")) {
        unsigned bit = 0;
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            if (strcmp(w, words[i].mark) == 0)
                bit = words[i].bit;
        if (!bit)
            broken("an unknown word after the colon");
        l->flags |= bit;
    }
}

static void read_marks(struct marks *m, const char *path)
{
    FILE *f = fopen(path, "r");
    char text[512], *at, *end;
    if (!f)
        broken("cannot read the source");
    for (int line = 1; fgets(text, sizeof text, f); line++) {
        struct assumed *a = &m->assumed[m->n_assumed];
        if (strstr(text, "// NO PAIR") && m->n_no_pair < MAX_PAIRS)
            m->no_pair[m->n_no_pair++] = line;
        else if ((at = strstr(text, "// PAIR "))) {
            at += strlen("// PAIR ");
            for (char *w = strtok_r(at, " \n", &end); w; w = strtok_r(NULL, " \n", &end))
                read_letter(m, line, w);
        } else if (strncmp(text, "// NO THREADS", 13) == 0)
            m->no_threads = true;
        else if (m->n_assumed < 8 && sscanf(text, "// ASSUMED %63s %ld", a->name, &a->count) == 2)
            m->n_assumed++;
    }
    fclose(f);
    for (int i = 0; i < LETTERS; i++) {
        struct letter *l = &m->letter[i];
        if (!l->lines)
            continue;
        if (!(l->flags & (RELAY | SOUND)))
            l->flags |= RELAY | SOUND;
        int other = l->line[l->lines - 1];
        struct pair *p = find(&m->expected, l->line[0], other);
        if (p)
            broken("two letters for one pair of lines");
        add(&m->expected, l->line[0], other, l->flags);
    }
    if (!m->expected.n && !m->n_no_pair && !m->no_threads)
        broken("nothing is marked");
}

/* ---- What was found ---- */

static unsigned flags_of(const json_t *pair)
{
    unsigned flags = 0;
    size_t i;
    json_t *f;
    json_array_foreach(json_object_get(pair, "flags"), i,
                       f) for (size_t w = 0; w < sizeof words / sizeof words[0];
                               w++) if (strcmp(json_string_value(f), words[w].flag) == 0) flags |=
        words[w].bit;
    return flags;
}

static int line_of(const json_t *finding, size_t side)
{
    const json_t *access = json_array_get(json_object_get(finding, "accesses"), side);
    return (int)json_integer_value(
        json_object_get(json_array_get(json_object_get(access, "stack"), 0), "line"));
}

/* Several pairs of sites may be one of lines: it is dropped only if all are. */
static void read_found(const json_t *root, struct pairs *found, unsigned style)
{
    size_t i;
    json_t *finding;
    json_array_foreach(json_object_get(root, "findings"), i, finding)
    {
        int a = line_of(finding, 0), b = line_of(finding, 1);
        unsigned flags = (flags_of(finding) & ~(unsigned)(RELAY | SOUND)) | style;
        struct pair *p = find(found, a, b);
        if (p)
            p->flags = ((p->flags | flags) & ~(unsigned)DROPPABLE) | (p->flags & flags & DROPPABLE);
        else
            add(found, a, b, flags);
    }
}

static json_t *load(const char *path)
{
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    if (!root)
        broken("no JSON came out");
    return root;
}

static long count_of(const json_t *root, const char *name)
{
    size_t i;
    json_t *a;
    json_array_foreach(json_object_get(root, "assumptions"), i,
                       a) if (strcmp(json_string_value(json_object_get(a, "name")), name) ==
                              0) return (long)json_integer_value(json_object_get(a, "count"));
    return -1;
}

static const char *style_name(unsigned style)
{
    return style == RELAY ? "relay" : "sound";
}

static void compare(struct marks *m, struct pairs *found, unsigned style)
{
    for (int i = 0; i < m->expected.n; i++) {
        struct pair *e = &m->expected.at[i], *f = find(found, e->line[0], e->line[1]);
        unsigned special = e->flags & ~(unsigned)(RELAY | SOUND);
        if ((e->flags & style) && !f)
            complain("%s lacks %d-%d", style_name(style), e->line[0], e->line[1]);
        else if ((e->flags & style) && (f->flags & ~(unsigned)(RELAY | SOUND)) != special)
            complain("%s %d-%d has flags %#x, not %#x", style_name(style), e->line[0], e->line[1],
                     f->flags & ~(unsigned)(RELAY | SOUND), special);
    }
    for (int i = 0; i < found->n; i++) {
        struct pair *f = &found->at[i], *e = find(&m->expected, f->line[0], f->line[1]);
        if (!e || !(e->flags & style))
            complain("%s has %d-%d", style_name(style), f->line[0], f->line[1]);
        for (int k = 0; k < m->n_no_pair; k++)
            if (f->line[0] == m->no_pair[k] || f->line[1] == m->no_pair[k])
                complain("line %d must be in no pair", m->no_pair[k]);
    }
}

int main(int argc, char **argv)
{
    static struct marks marks;
    if (argc != 5)
        broken("usage: static-judge NAME SOURCE.c RELAY.json SOUND.json");
    read_marks(&marks, argv[2]);
    for (int i = 0; i < 2; i++) {
        static struct pairs found[2];
        unsigned style = i == 0 ? RELAY : SOUND;
        json_t *root = load(argv[3 + i]);
        read_found(root, &found[i], style);
        compare(&marks, &found[i], style);
        if (json_is_true(json_object_get(root, "no_threads")) != marks.no_threads)
            complain("it %s threads", marks.no_threads ? "has" : "has no");
        for (int k = 0; k < marks.n_assumed; k++) {
            long count = count_of(root, marks.assumed[k].name);
            if (count != marks.assumed[k].count)
                complain("%s is counted %ld times, not %ld", marks.assumed[k].name, count,
                         marks.assumed[k].count);
        }
        json_decref(root);
    }
    if (complaints[0])
        printf("FAIL %s: %s\n", argv[1], complaints);
    else
        printf("ok %s\n", argv[1]);
    return complaints[0] != 0;
}
