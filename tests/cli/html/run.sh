#!/bin/sh
# run.sh DEADHEAT - the page of findings in a headless browser: groups, filter, keyboard, timeline, light and dark. page.mjs has the
# cases; SHOTS=DIRECTORY keeps pictures.
. "$(dirname "$0")/../lib.sh"
root=$(cd "$here/../../.." && pwd)
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)

cd "$work" || exit 1
cp "$here/many.c" "$here/other.h" .
"$deadheat" cc -g -O0 -pthread -I"$root/tests/programs" many.c -o many || { bad compile "deadheat cc failed"; exit 1; }
"$deadheat" run --report=0 --output=many.jsonl -- ./many >out 2>err
"$deadheat" report --format=html many.jsonl >report.html 2>err
same report "$?:$(grep -c 'class=p id=dh' report.html)" 66:3
has data report.html 'data-file="other.h"' 'data-variable="f10"' '<select id=g>'
"$deadheat" record --quiet -o many.dht -- ./many >out 2>err
"$deadheat" analyze --format=html many.dht >analyze.html 2>err
has timeline analyze.html '<summary>timeline</summary>' 'class=at' 'write <code>f10</code>' 'read <code>f10</code>'
has timeline-lock analyze.html 'acquire <code>door</code>' 'release <code>door</code>'
printf 'm|fork(a)|1\nm|fork(b)|2\na|acq(l)|3\na|w(x)|4\na|rel(l)|5\nb|acq(k)|6\nb|w(x)|7\nb|rel(k)|8\nb|w(y)|9\n' >x.std
"$deadheat" analyze --format=html x.std >trace.html 2>err
same timeline-order "$(sed 's,</*code>,,g' trace.html | grep -o '<tr[^>]*><td>[0-9]*<td>[^<]*<td>[^<]*' | sed 's/<[^>]*>/ /g' | tr -s ' ' | tr '\n' ';')" \
    ' 3 acquire l; 4 write x; 5 release l; 6 acquire k ; 7 write x ; 8 release k ;'
lacks timeline-run report.html '<summary>timeline</summary>'
"$deadheat" static --format=html -I"$root/tests/programs" -pthread many.c >static.html 2>err
same natural "$(grep -o '<summary><code>f[0-9]*' static.html | tr '\n' ' ')" '<summary><code>f2 <summary><code>f10 '
same no-zeros "$(grep -c '<td class=r>0</td>\|<td class=r>0<small>\|<b>0</b>' static.html)" 0
same loads-nothing "$(cat ./*.html | grep -c 'http\|src=\|@import\|url(')" 0
if ! command -v node >/dev/null || [ ! -d "$root/node_modules/playwright-core" ] || [ -z "$browser" ]; then
    skip page "there is no node, no playwright-core or no Chromium (scripts/install-deps)"
    exit $failed
fi
HOME=$work node "$here/page.mjs" "$browser" 2>&1 | tee lines
grep -q '^FAIL' lines && failed=1
grep -q '^ok' lines || { bad page 'it ran no case'; exit 1; }
exit $failed
