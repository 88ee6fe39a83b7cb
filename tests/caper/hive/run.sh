#!/bin/sh
# run.sh DEADHEAT - dpPairs for the hive: what `deadheat caper export --to=filter` writes of a Caper build, and what `deadheat hive add
# --filter` registers of a field build of the same sources.
. "$(dirname "$0")/../../cli/lib.sh"
suite=caper/hive
cd "$work" || exit 1

build() { "$deadheat" cc "$@" -g -O1 -pthread >log 2>&1 || bad "build $*" "$(cat log)"; }
hive() { # WORD...: into out, err and status
    "$deadheat" hive "$@" >out 2>err
    status=$?
}
# The pairs of the hive, and those of the state.
known() { "$deadheat" hive export --db="$1" --format=csv | tail -n +2 | cut -d, -f1 | sort; }
exported() {
    "$deadheat" caper export --state="$1" --to=pairs |
        python3 -c 'import json, sys; print("\n".join(sorted(f["id"] for f in json.load(sys.stdin)["findings"])))'
}

cp "$here/../filter/log.c" .
build --dh-mode=caper log.c -o log-caper
build --dh-mode=field log.c -o log
"$deadheat" caper --quiet --state=s -- ./log-caper
"$deadheat" caper export --state=s --to=filter -o filter

# Of the field build, the pairs of the Caper build that are in dpPairs are candidates, and no others.
hive add --db=hive.db --filter=filter ./log
same status "$status" 0
has said out './log: 3 of 5 pairs are in dpPairs' 'added: 3 candidates, 0 bundles'
same quiet "$(cat err)" ''
same pairs "$(known hive.db)" "$(exported s)"
id=$(sed -n 's/.*build \([0-9a-f]*\) added.*/\1/p' out)

# A later state has more. A build keeps its pairs until it is forgotten.
"$deadheat" caper --quiet --state=s -- ./log-caper more
"$deadheat" caper export --state=s --to=filter -o filter
hive add --db=hive.db --filter=filter ./log
same again "$status" 0
has again-said err 'keeps the pairs that it was added with'
"$deadheat" hive forget --db=hive.db --build="$id"
hive add --db=hive.db --filter=filter --style=sound ./log
has more out './log: 5 of 5 pairs are in dpPairs' 'added: 5 candidates'
same more-pairs "$(known hive.db)" "$(exported s)"
hive add --db=relay.db --filter=filter --style=relay ./log
has relay out 'added: 3 candidates'

# By the interface of a hive, where somebody gets one of them to try.
echo 0123456789abcdef0123456789abcdef >token
"$deadheat" hive serve --db=served.db --admin-token-file=token --listen=127.0.0.1:0 >serving 2>&1 &
server=$!
within 20 sh -c 'until grep -qs "serving on" serving; do sleep 0.05; done'
url=$(sed -n 's/.*serving on //p' serving)
head -5 filter >less # one site: no pair
hive add --hive="$url" --admin-token-file=token --filter=less ./log
has remote-none out '0 of 5 pairs are in dpPairs' 'added: 0 candidates'
has unknown err "'less' does not know 7 of 8 accesses of './log'"
"$deadheat" hive forget --db=served.db --build="$id"
hive add --hive="$url" --admin-token-file=token --filter=filter ./log
has remote out 'added: 5 candidates and bundles'
key=$("$deadheat" hive key --db=served.db --program=log | sed 's/.*: //')
poll() { # the pair that this user is to try
    curl -s -H "Authorization: Bearer $key" -H 'X-Deadheat-User: 00000000000000000000000000000001' -d "{\"build\": \"$id\"}" "$url/v1/poll" |
        sed -n 's/.*"unit":"\([0-9a-f]*\)".*/\1/p'
}
unit='' turn=0
while [ -z "$unit" ] && [ $turn -lt 200 ]; do # the key is known to the server a little later
    turn=$((turn + 1))
    unit=$(poll)
    [ -n "$unit" ] || sleep 0.1
done
exported s >pairs
if grep -qx "${unit:-none}" pairs; then ok task; else bad task "$unit is not in: $(tr '\n' ' ' <pairs)"; fi
kill "$server"
wait "$server" 2>/dev/null

# What cannot be used is refused, and nothing is registered.
printf '# deadheat caper filter 2\n' >later
printf 'something else\n' >foreign
sed 's/yes/maybe/' filter >damaged
head -c 300 filter >short
sed 's/^[0-9a-f]\{8\}/00000000/' filter >other
for f in later foreign damaged short other missing; do
    hive add --db=refused.db --filter=$f ./log
    same "refused-$f" "$status $(wc -l <err)" '2 1'
done
has why-later err "cannot read 'missing'"
hive add --db=refused.db --filter=damaged ./log
has why-damaged err "'damaged' is damaged: a line is not one of a filter"
hive add --db=refused.db --filter=other ./log
has why-other err "'other' knows no access of the program that is in a pair"
hive status --db=refused.db
has nothing-registered out 'The hive knows no program'
hive status --db=hive.db --filter=filter
same elsewhere "$status" 2
exit $failed
