/*
 * lines.c - the pairs of source lines in a report, one a line, sorted, each once.
 *
 *   static-lines races DIRECTORY FILE.json    of `deadheat report`: an access counts for its innermost frame beneath
 *                                             DIRECTORY; a race with an access outside of it is left out
 *   static-lines pairs DIRECTORY FILE.json    of `deadheat static`
 *
 * A pair is printed as "file:line file:line", the smaller first, in the order of the C locale, which is what comm
 * wants. An empty file is a report of nothing. It is not a script because the tests of the static analysis start it
 * thousands of times.
 */
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE = 256 };

struct pair {
    char text[2 * PLACE];
};

static struct pair *found;
static size_t n_found;

static _Noreturn void broken(const char *what)
{
    fprintf(stderr, "static-lines: %s\n", what);
    exit(2);
}

static void add(const char *a, const char *b)
{
    bool swap = strcmp(a, b) > 0;
    if ((n_found & (n_found + 1)) == 0) { /* full, as capacities are powers of two */
        found = realloc(found, (2 * n_found + 1) * sizeof(*found));
        if (!found)
            broken("no memory");
    }
    snprintf(found[n_found++].text, sizeof(found->text), "%s %s", swap ? b : a, swap ? a : b);
}

static void put_place(char *ret_text, const char *path, json_int_t line)
{
    const char *slash = strrchr(path, '/');
    snprintf(ret_text, PLACE, "%s:%lld", slash ? slash + 1 : path, (long long)line);
}

/* ---- Of a report ---------------------------------------------------------------------------------------- */

static bool is_beneath(const char *directory, const char *path)
{
    char real[PATH_MAX];
    size_t n = strlen(directory);
    return realpath(path, real) && strncmp(real, directory, n) == 0 && real[n] == '/';
}

static bool find_place(const json_t *access, const char *directory, char *ret_text)
{
    size_t i;
    json_t *frame;
    json_array_foreach(json_object_get(access, "stack"), i, frame)
    {
        const char *dir = json_string_value(json_object_get(frame, "dir"));
        const char *file = json_string_value(json_object_get(frame, "file"));
        json_int_t line = json_integer_value(json_object_get(frame, "line"));
        char path[PATH_MAX];
        if (!file || !line)
            continue;
        snprintf(path, sizeof(path), "%s%s%s", dir && file[0] != '/' ? dir : "",
                 dir && file[0] != '/' ? "/" : "", file);
        if (is_beneath(directory, path)) {
            put_place(ret_text, file, line);
            return true;
        }
    }
    return false;
}

static void read_races(const json_t *root, const char *directory)
{
    char real[PATH_MAX];
    size_t i;
    json_t *race;
    if (!realpath(directory, real))
        broken("there is no such directory");
    json_array_foreach(json_object_get(root, "findings"), i, race)
    {
        const json_t *accesses = json_object_get(race, "accesses");
        char a[PLACE], b[PLACE];
        if (find_place(json_array_get(accesses, 0), real, a) &&
            find_place(json_array_get(accesses, 1), real, b))
            add(a, b);
    }
}

/* ---- Of the static analysis ----------------------------------------------------------------------------- */

static void put_side(char *ret_text, const json_t *pair, size_t side)
{
    const json_t *access = json_array_get(json_object_get(pair, "accesses"), side);
    const json_t *top = json_array_get(json_object_get(access, "stack"), 0);
    const char *file = json_string_value(json_object_get(top, "file"));
    put_place(ret_text, file ? file : "?", json_integer_value(json_object_get(top, "line")));
}

static void read_pairs(const json_t *root)
{
    size_t i;
    json_t *pair;
    json_array_foreach(json_object_get(root, "findings"), i, pair)
    {
        char a[PLACE], b[PLACE];
        put_side(a, pair, 0);
        put_side(b, pair, 1);
        add(a, b);
    }
}

static bool is_empty(const char *path)
{
    FILE *f = fopen(path, "r");
    int c = f ? fgetc(f) : EOF;
    while (c == '\n' || c == ' ')
        c = fgetc(f);
    bool nothing = f && c == EOF;
    if (f)
        fclose(f);
    return nothing;
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct pair *)a)->text, ((const struct pair *)b)->text);
}

int main(int argc, char **argv)
{
    if (argc != 4 || (strcmp(argv[1], "races") != 0 && strcmp(argv[1], "pairs") != 0))
        broken("usage: static-lines races|pairs DIRECTORY FILE.json");
    if (is_empty(argv[3]))
        return 0;
    json_error_t error;
    json_t *root = json_load_file(argv[3], 0, &error);
    if (!root)
        broken(error.text);
    if (strcmp(argv[1], "races") == 0)
        read_races(root, argv[2]);
    else
        read_pairs(root);
    json_decref(root);
    if (n_found)
        qsort(found, n_found, sizeof(*found), compare);
    for (size_t i = 0; i < n_found; i++)
        if (i == 0 || compare(&found[i - 1], &found[i]) != 0)
            puts(found[i].text);
    free(found);
    return 0;
}
