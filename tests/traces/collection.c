/*
 * collection.c - see collection.h.
 */
#include "traces/collection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *collection_path(const char *file)
{
    static char path[1024];
    const char *given = getenv("DEADHEAT_TRACES"), *folder = given ? given : DH_SOURCE "/../shared/traces";
    if (access(folder, R_OK) != 0)
        return NULL;
    snprintf(path, sizeof(path), "%s/%s", folder, file);
    return path;
}

int collection_fault(const char *file, const char *what)
{
    fprintf(stderr, "%s: %s\n", file, what);
    return 1;
}

int collection_small(const char *list, collection_small_fn *fn)
{
    const char *path = collection_path(list), *file;
    json_t *known;
    int faults = 0;
    if (!path)
        return COLLECTION_ABSENT;
    json_t *root = json_load_file(path, 0, NULL);
    if (json_object_size(root) == 0)
        return collection_fault(list, "no traces");
    json_object_foreach(root, file, known)
    {
        struct kit_trace t;
        faults += kit_load(&t, collection_path(file)) ? fn(file, &t, known) : 1;
        kit_done(&t);
    }
    json_decref(root);
    return faults;
}

int collection_recorded(collection_recorded_fn *fn)
{
    static const char list[] = "expected_real.tsv";
    static char head[4096], line[4096], file[256];
    const char *path = collection_path(list);
    int faults = 0, n = 0;
    if (!path)
        return COLLECTION_ABSENT;
    FILE *f = fopen(path, "r");
    if (f && !fgets(head, sizeof(head), f))
        head[0] = '\0';
    for (; f && fgets(line, sizeof(line), f); n++) {
        struct collection_row row = {.head = head, .line = line};
        struct kit_trace t;
        collection_value(&row, "file", file, sizeof(file));
        faults += kit_load(&t, collection_path(file)) ? fn(file, &t, &row) : 1;
        kit_done(&t);
    }
    if (f)
        fclose(f);
    return n ? faults : faults + collection_fault(list, "no traces");
}

const char *collection_value(const struct collection_row *row, const char *name, char *value, size_t cap)
{
    const char *head = row->head, *line = row->line;
    value[0] = '\0';
    for (;;) {
        size_t n = strcspn(head, "\t\n"), m = strcspn(line, "\t\n");
        if (n == strlen(name) && memcmp(head, name, n) == 0) {
            snprintf(value, cap, "%.*s", (int)m, line);
            return value;
        }
        if (head[n] != '\t' || line[m] != '\t')
            return value;
        head += n + 1;
        line += m + 1;
    }
}

bool collection_pair(const json_t *pairs, size_t k, u32 n, u32 *ret_i, u32 *ret_j)
{
    const json_t *pair = json_array_get(pairs, k);
    *ret_i = (u32)json_integer_value(json_array_get(pair, 0)) - 1;
    *ret_j = (u32)json_integer_value(json_array_get(pair, 1)) - 1;
    return *ret_i < *ret_j && *ret_j < n;
}
