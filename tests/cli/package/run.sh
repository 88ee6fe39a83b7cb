#!/bin/sh
# run.sh DEADHEAT - the packages for Debian, made from the tree that is built already: what they are divided into, what
# lintian says, and that they work where they are unpacked. `make deb` makes them from nothing.
. "$(dirname "$0")/../lib.sh"

root=$(cd "$here/../../.." && pwd)
if ! command -v dh >/dev/null || ! command -v lintian >/dev/null; then
    skip all "debhelper or lintian is missing"
    exit 0
fi
mkdir "$work/deadheat" && cp -r "$root/debian" "$root/Makefile" "$work/deadheat" && cd "$work/deadheat" || exit 1
if ! DEADHEAT_BUILD=$BUILD DEB_BUILD_OPTIONS=noautodbgsym DPKG_DEB_COMPRESSOR_LEVEL=0 debian/rules binary >"$work/log" 2>&1; then
    bad build "$(tail -5 "$work/log" | tr '\n' '|')"
    exit 1
fi
cd "$work" || exit 1
lintian --allow-root --fail-on error,warning ./*.deb >log 2>&1
same lintian "$?:$(tr '\n' '|' <log)" 0:

# Whoever can run the tests can build the package.
sed -n '/^Build-Depends:/,/^$/p' "$root/debian/control" | sed 's/^Build-Depends://; s/([^)]*)//g' | tr ', ' '\n\n' |
    sed 's/:any$//; s/^debhelper-compat$/debhelper/; /^$/d' | sort >depends
"$root/scripts/install-deps" --list | tr ' ' '\n' | sort >listed
same build-depends "$(comm -23 depends listed)" python3
same version "$(sed -n '1s/.*(\(.*\)).*/\1/p' "$root/debian/changelog")" "$(sed -n "s/^ *version: '\(.*\)',/\1/p" "$root/meson.build" | head -1)"

# ---- Where programs are only run ----
for p in libdeadheat-runtime deadheat; do
    dpkg-deb -x "$p"_*.deb here
done
cp "$root/examples/demo/hits.c" .
here/usr/bin/deadheat --version >out 2>&1
same tool "$?" 0
here/usr/bin/deadheat cc -g hits.c -o hits >out 2>&1
same no-compiler "$?" 2
has no-compiler-said out libdeadheat-dev
same no-compiler-links "$(ls here/usr/bin)" deadheat

# ---- And where they are compiled: the program then runs where the other tree is ----
cp -r here there && dpkg-deb -x libdeadheat-dev_*.deb there
cat >annotated.c <<'EOF'
#include <deadheat/lard.h>
int main(void)
{
    int x = 0;
    dh_lard_clear(&x, sizeof(x));
    return x;
}
EOF
there/usr/bin/deadheat-cc -g -O1 -pthread hits.c -o hits && there/usr/bin/deadheat-cc annotated.c -o annotated && ./annotated
same compiled "$?" 0
there/usr/bin/deadheat run -- ./hits >out 2>err
same run "$?" 66
has run-report err "WARNING: deadheat: data race on global \`total\`"
there/usr/bin/deadheat-cc --dh-mode=field -O2 -pthread hits.c -o field && there/usr/bin/deadheat static --summary ./field >out 2>&1
same field "$?:$(head -1 out)" "0:global \`total\` (long), declared at hits.c:17: 2 pairs"
rm -r there
PATH=$work/here/usr/bin:$PATH ./hits >out 2>err
same elsewhere "$?" 66
has elsewhere-report err "WARNING: deadheat: data race on global \`total\`"
exit $failed
