#!/bin/sh
# The rules about the source tree, checked on the tree and (that they bite at all) on a tree that breaks them.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bad=$(mktemp -d)
trap 'rm -rf "$bad"' EXIT

for rule in includes names taps heads reminders lengths; do
    if out=$("$here/check" $rule "$root"); then
        echo "ok rooms/$rule"
    else
        echo "FAIL rooms/$rule: $(echo "$out" | head -5 | tr '\n' '|')"
    fi
done

# A tree in which every rule is broken, beside lines that look like breaches and are none.
mkdir -p "$bad/docs/design" "$bad/src/base" "$bad/src/util" "$bad/src/runtime" "$bad/src/cli" "$bad/src/attic" "$bad/include/deadheat"
cp "$root/docs/design/rooms.md" "$root/docs/design/lab.md" "$bad/docs/design/"
cat > "$bad/src/base/b.h" <<'EOF'
/* head */
#include <stdint.h>
#include <deadheat/deadheat.h>
#include "util/strings.h"
EOF
cat > "$bad/src/runtime/r.c" <<'EOF'
/* head */
#include "base/b.h"
#include "clock/epoch.h"
#include "runtime/other.h"
#include "other.h"
#  include "report/record.h"
#include <llvm-c/Core.h>
#include <sys/types.h>
#include <report/record.h>
#include"util/strings.h"
EOF
cat > "$bad/src/cli/c.c" <<'EOF'
// head
#include "report/record.h"
#include "base/b.h"
#include "runtime/abi/abi.h"
#include "nowhere/x.h"
EOF
mkdir -p "$bad/src/runtime/abi" "$bad/src/runtime/lard" "$bad/src/runtime/cellar"
cat > "$bad/src/runtime/abi/i.h" <<'EOF'
/* head */
#include "runtime/runtime.h"
#include "runtime/abi/frame.h"
#include "runtime/engine/engine.h"
EOF
cat > "$bad/src/runtime/lard/l.c" <<'EOF'
/* head */
#include "runtime/engine/engine.h"
#include "runtime/compat/compat.h"
#include "runtime/cellar/c.h"
EOF
printf '/* head */\n#include "runtime/abi/abi.h"\n' > "$bad/src/runtime/cellar/c.h"
printf '/* head */\n#include "base/b.h"\n' > "$bad/src/attic/a.c"
printf 'int headless;\n' > "$bad/src/util/u.c"
printf '#!/bin/sh\nexit 0\n' > "$bad/src/util/script"
chmod +x "$bad/src/util/script"
printf '/* head */\n/* TO%s: some day */\n/* TO%s(#12): planned */\n/* mkstemp XX%s */\n' DO DO XXXX > "$bad/src/util/t.c"
awk 'BEGIN { print "/* head */"; for (i = 0; i < 800; i++) print "int x" i ";" }' > "$bad/src/util/long.c"

mkdir -p "$bad/src/runtime/threads" "$bad/src/runtime/engine"
printf '/* head */\nvoid dh_public_word(int x);\n' > "$bad/include/deadheat/public.h"
cat > "$bad/src/runtime/threads/order.c" <<'EOF'
/* head */
extern int dh_elsewhere_declared(void);
void dh_order_by_file(void)
{
}
int dh_thread_by_folder(int a,
                        int b)
{
    return a + b;
}
static int dh_private_name(void)
{
    return dh_stray_call(1);
}
const char *dh_stray(int a,
                     int b)
{
    return dh_order_by_file();
}
void dh_public_word(int x)
{
}
void dh_stray_declared(void);
DH_COLD void dh_orderly_stray(void)
{
}
void dh_ctx_here(void)
{
}
void __dh_of_the_pass(void)
{
}
EOF
cat > "$bad/src/runtime/engine/dump.c" <<'EOF'
/* head */
void dh_debug_dump(void)
{
}
void dh_engines_all(void)
{
}
EOF

mkdir -p "$bad/src/runtime/sink"
printf '/* head */\nvoid f(void)\n{\n    dh_tap_init();\n    if (dh_tap)\n        g(my_dh_tap);\n}\n' > "$bad/src/runtime/threads/taps.c"
printf '/* head */\nextern int dh_tap;\n' > "$bad/src/runtime/sink/tap.h"
printf '/* head */\nint tapped = !!dh_tap;\n' > "$bad/src/runtime/engine/quick.c"

self_test() { # rule, then the breaches it must find, and no others
    rule=$1
    "$here/check" "$rule" "$bad" | sed 's/: .*//' | sort > "$bad/got"
    shift
    printf '%s\n' "$@" | sort > "$bad/want"
    if cmp -s "$bad/got" "$bad/want"; then
        echo "ok rooms/self-test-$rule"
    else
        echo "FAIL rooms/self-test-$rule: found $(tr '\n' ' ' < "$bad/got")"
    fi
}

self_test includes src/runtime/abi/i.h:4 src/runtime/lard/l.c:3 src/runtime/lard/l.c:4 src/runtime/cellar/c.h:2 src/base/b.h:4 src/runtime/r.c:6 src/runtime/r.c:7 src/runtime/r.c:9 src/runtime/r.c:10 src/cli/c.c:4 src/cli/c.c:5 src/attic/a.c:2
self_test names src/runtime/threads/order.c:15 src/runtime/threads/order.c:24 src/runtime/threads/order.c:27
self_test taps src/runtime/threads/taps.c:5
self_test heads src/util/script:2 src/util/u.c:1
self_test reminders src/util/t.c:2
self_test lengths src/util/long.c:801
