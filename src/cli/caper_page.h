/*
 * caper_page.h - the page of `deadheat caper status`.
 */
#ifndef DH_CLI_CAPER_PAGE_H
#define DH_CLI_CAPER_PAGE_H

#include <jansson.h>
#include <stdio.h>

#include "report/table.h"

/* The document of `status --format=json`, with its history as curves and as a table. */
void dh_cli_caper_page(FILE *out, const json_t *document, const struct dh_print_table *history);
/* Just the curves, inside another page. */
void dh_cli_caper_curves(FILE *out, const json_t *history);

#endif
