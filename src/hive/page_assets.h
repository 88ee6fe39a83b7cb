/*
 * page_assets.h - stylesheet, script and icon of the page. They are files in src/hive/page/, embedded into
 * the program.
 */
#ifndef DH_HIVE_PAGE_ASSETS_H
#define DH_HIVE_PAGE_ASSETS_H

/* The path it is served under, which includes a hash of its contents, so that it can be cached for ever. */
const char *dh_page_asset_path(const char *name);

#endif
