#!/bin/sh
# run.sh DEADHEAT OBJ - accesses that the C library makes (memcpy and its kin) are chased at the call: which bytes they are is what
# its arguments say, whichever way the call takes, and afterwards the program has what it would have had.
. "$(dirname "$0")/../lib.sh"

sure="--rmax=100% --delay=900ms"
second=copies.c:$(line copies SECOND):write
pair() { echo "copies.c:$(line copies "$1"):$second"; } # MARK
try() { # NAME HOW MARK: confirmed
    # shellcheck disable=SC2086
    chase $sure --pair "$(pair "$3")" -- ./copies "$2"
    same "$1" "$status:$(cat out)" 66:OK
    has "$1-words" err "data race on" "#0 second" "copies.c:$(line copies "$3"):" "1 data race"
}

for how in gcc:-O1 'gcc:-O2 -fno-plt' 'gcc:-O1 -fcf-protection=full -z ibtplt' clang-19:-O2; do
    name=$(echo "$how" | tr -d ': ' | sed 's/[-=]/_/g')
    build "${how%%:*}" "${how#*:} -fno-builtin" copies
    try "memcpy-$name" memcpy MEMCPY
done
for what in memmove memset memcmp memchr; do
    try $what $what "$(echo $what | tr a-z A-Z)"
done
try tail tail TAIL
try source source MEMCPY
has source-kind err "read of at least 64 bytes"
for what in short behind; do
    chase --rmax=100% --delay=50ms --pair "$(pair MEMCPY)" -- ./copies $what
    same "not-$what" "$status:$(cat out)" 3:OK
    lacks "not-$what-race" err "data race"
done
chase --list --pair "$(pair MEMCPY)" -- ./copies
has listed out ": write of what a call is given" ": read of what a call is given"

# Steering: who is to go second is held until the other's access has been made, which is told when the call returns.
# A thread is held for a millisecond at first, which on a busy machine is short, and longer in the next runs.
for order in primary alternate; do
    persist --rmax=100% --trials=4 --steer=$order --output=$order.jsonl --pair "$(pair MEMCPY)" -- ./copies memcpy
    same "steered-$order" "$status:$(sort -u out)" 66:OK
    has "steered-$order-record" $order.jsonl "\"order\":\"$([ $order = primary ] && echo shown || echo reversed)\""
done

# As a field build, also by what orders threads: nothing does.
"$deadheat" cc --dh-mode=field -g -O2 -fno-builtin -pthread "$programs/copies.c" -o copies >log 2>&1 || bad field "$(tail -3 log | tr '\n' '|')"
try field memcpy MEMCPY
await "data race" --rmax=100% --analysis=litehb --pair "$(pair MEMCPY)" -- ./copies memcpy
same litehb "$status:$(cat out)" 66:OK
exit $failed
