#!/bin/sh
# run.sh DEADHEAT OBJ - the page of the hive in a headless browser, and the description of its interface by a validator of others.
# SHOTS=DIRECTORY keeps pictures of it. page.mjs has the cases.
set -u
here=$(cd "$(dirname "$0")" && pwd)
deadheat=$(readlink -f "${DEADHEAT:-$1}")
tables=${2:-$BUILD/obj}/tests/hive/page/hive-tables
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

if ! command -v node >/dev/null || [ ! -d "$here/../../../node_modules/playwright-core" ]; then
    echo "skip hive/page: there is no node, or no playwright-core (scripts/install-deps)"
    exit 0
fi
node "$here/openapi.mjs" "$here/../../../src/hive/openapi.json"
if [ -z "$browser" ]; then
    echo "skip hive/page: there is no Chromium (scripts/install-deps)"
    exit 0
fi
for table in demo later hostile; do
    "$tables" $table >$table || { echo "FAIL hive/page: $tables $table"; exit 1; }
done
HOME=$work node "$here/page.mjs" "$deadheat" "$browser" 2>&1
