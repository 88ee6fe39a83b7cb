/*
 * record_symbols.c - see record_symbols.h.
 */
#include "cli/record_symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/trace_symbols.h"
#include "util/path.h"
#include "util/text.h"

enum { CHUNK = 1 << 20, LINE = 4096 };

struct table {
    struct dh_trace_symbols symbols;
    struct dh_dht_writer *writer;
    char *text;
    size_t len;
};

static void flush(struct table *t)
{
    struct dh_dht_chunk head = {.type = DH_DHT_SYMBOLS, .first = DH_DHT_NO_TICKET};
    if (t->len)
        dh_dht_write_chunk(t->writer, &head, t->text, t->len);
    t->len = 0;
}

static void add(struct table *t, const struct dh_dht_place *p)
{
    char line[LINE];
    struct dh_symbol_frame f;
    if (!dh_trace_symbols_frame(&t->symbols, p, &f))
        return;
    /* Tabs and line ends in a name would break the table. */
    const char *function = dh_text_shown(&t->symbols.arena, f.function);
    const char *file = f.file ? dh_text_shown(&t->symbols.arena, dh_path_base(f.file)) : "";
    int n = f.file ? snprintf(line, sizeof(line), "%" PRIx64 "\t%s\t%s:%d\n", p->pc, function, file, f.line)
                   : snprintf(line, sizeof(line), "%" PRIx64 "\t%s\t\n", p->pc, function);
    if (n <= 0 || n >= (int)sizeof(line))
        return;
    if (t->len + (size_t)n > CHUNK)
        flush(t);
    memcpy(t->text + t->len, line, (size_t)n);
    t->len += (size_t)n;
}

/* All places in the file, in case the program had more than its table holds. */
static void read_back(struct table *t, int fd)
{
    static struct dh_event events[4096];
    struct dh_dht *r = NULL;
    struct dh_dht_place p;
    int rc = dh_dht_open(&r, fd);
    while (rc == 0 && dh_dht_read(r, events, DH_ARRAY_LEN(events)) > 0)
        ;
    for (u32 i = 0; rc == 0 && dh_dht_place(r, i, &p); i++)
        if (p.path)
            add(t, &p);
    flush(t);
    dh_dht_close(r);
}

void dh_record_symbols(struct dh_dht_writer *w, int fd, const struct dh_dht_places *places)
{
    struct table t = {.writer = w};
    struct dh_dht *r = NULL;
    struct dh_dht_place p;
    dh_trace_symbols_init(&t.symbols);
    t.text = dh_arena_alloc(&t.symbols.arena, CHUNK);
    if (places->lost) {
        read_back(&t, fd);
    } else if (dh_dht_open_tables(&r, fd) == 0) {
        for (u32 i = 0; i < DH_DHT_PLACES; i++)
            if (places->pcs[i] && dh_dht_place_of(r, places->pcs[i], &p))
                add(&t, &p);
        flush(&t);
    }
    dh_dht_close(r);
    dh_trace_symbols_done(&t.symbols);
}
