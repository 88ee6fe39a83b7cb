/*
 * page_assets.c - see page_assets.h.
 */
#include "hive/page_assets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hive/server.h"

extern const char dh_page_css[], dh_page_js[], dh_page_icon[];

static struct asset {
    const char *name, *type, *text;
    char path[64], etag[20];
} assets[] = {
    {.name = "page.css", .type = "text/css; charset=utf-8", .text = dh_page_css},
    {.name = "page.js", .type = "text/javascript; charset=utf-8", .text = dh_page_js},
    {.name = "icon.svg", .type = "image/svg+xml", .text = dh_page_icon},
};
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void name_assets(void)
{
    for (size_t i = 0; i < DH_ARRAY_LEN(assets); i++) {
        u64 hash = dh_util_hash(assets[i].text, strlen(assets[i].text));
        snprintf(assets[i].etag, sizeof(assets[i].etag), "\"%016" PRIx64 "\"", hash);
        snprintf(assets[i].path, sizeof(assets[i].path), "/page/%016" PRIx64 "/%s", hash, assets[i].name);
    }
}

const char *dh_page_asset_path(const char *name)
{
    pthread_once(&once, name_assets);
    for (size_t i = 0; i < DH_ARRAY_LEN(assets); i++)
        if (strcmp(assets[i].name, name) == 0)
            return assets[i].path;
    abort();
}

void dh_hive_page_asset(struct dh_hive_request *r)
{
    const char *has = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "If-None-Match");
    pthread_once(&once, name_assets);
    for (size_t i = 0; i < DH_ARRAY_LEN(assets); i++) {
        if (strcmp(assets[i].path, r->path) != 0)
            continue;
        bool same = has && strcmp(has, assets[i].etag) == 0;
        char *text = strdup(same ? "" : assets[i].text);
        if (!text)
            dh_util_no_memory();
        memcpy(r->etag, assets[i].etag, sizeof(r->etag));
        r->cache = "public, max-age=31536000, immutable";
        dh_hive_answer_text(r, same ? 304 : 200, assets[i].type, text);
        return;
    }
    dh_hive_answer_error(r, 404, "there is nothing here");
}
