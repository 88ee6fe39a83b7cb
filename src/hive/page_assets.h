/*
 * page_assets.h - style, script and sign of the page. They are files in src/hive/page/, and part of the
 * program.
 */
#ifndef DH_HIVE_PAGE_ASSETS_H
#define DH_HIVE_PAGE_ASSETS_H

/* Where it is served: the path has a hash of its contents, so that it can be kept for ever. */
const char *dh_page_asset_path(const char *name);

#endif
