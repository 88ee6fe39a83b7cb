#!/bin/sh
# run.sh DEADHEAT - `deadheat crowd`: a hive on loopback, a program with a race and one without, and a crowd of 50 for each. It is also
# interrupted and killed, and goes on with the same users.
. "$(dirname "$0")/../cli/lib.sh"
suite=crowd
cd "$work" || exit 1
hive=
trap '[ -n "$hive" ] && kill $hive; rm -rf "$work"' EXIT
for p in racy quiet copies; do
    "$deadheat" cc --dh-mode=field -g -O1 -pthread "$here/$p.c" -o $p >log 2>&1 || { bad build "$(tail -3 log | tr '\n' '|')"; exit 1; }
    "$deadheat" hive add --db=hive.db --source ./$p | sed -n 's/.*shown once: //p' >$p.key
done
openssl rand -hex 32 >token
"$deadheat" hive serve --db=hive.db --admin-token-file=token --listen=127.0.0.1:0 >serving 2>hive.err &
hive=$!
until grep -q "serving on" serving; do kill -0 $hive 2>/dev/null || { bad serve "$(cat hive.err)"; exit 1; }; sleep 0.05; done
url=$(sed -n 's/.*serving on //p' serving)
crowd() { # PROGRAM ARGUMENTS: those of a crowd of 50
    p=$1
    shift
    "$deadheat" crowd --users=50 --hive="$url" --key-file=$p.key --admin-token-file=token "$@"
}
value() { python3 -c "import json; d = json.load(open('$1')); v = {}
for r in d.get('table1', []): v[r['verdict']] = v.get(r['verdict'], 0) + r['candidates']
how = {r['how']: r['candidates'] for r in d.get('table1', []) if r['how']}
print($2)"; } # FILE EXPRESSION: d is the document, v has the candidates by verdict, how by what is known of them
sums() { same "$1-sums" "$(value $2 "sum(v.values()) == d['candidates'] > 0")" True; } # NAME FILE

# A race is found, in both orders. Whether threads meet is chance on a machine that is busy: the same users go on.
for budget in 20s 40s 80s; do
    rm -f seeds
    crowd racy --runs=200 --rmax=100% --seed=7 --budget=$budget --format=json -- ./racy '{seed}' seeds >racy.json 2>err
    same "racy-status-$budget" "$?" 0
    [ "$(value racy.json "how['both orders'] > 0")" = True ] && break
done
same racy "$(value racy.json "v['true race'] > 0 and how['both orders'] > 0")" True
sums racy racy.json
same racy-stacks "$("$deadheat" hive export --db=hive.db --format=json --program=racy | python3 -c "import json, sys
print({(f['function'], f['file'].split('/')[-1]) for c in json.load(sys.stdin)['candidates'] for s in c.get('stacks', []) for a in s['accesses'] for f in a[:1]})")" \
    "{('work', 'racy.c')}"
same racy-runs "$(wc -l <seeds)" "$(value racy.json "d['runs']")"
same racy-seeds "$(sort -u seeds | wc -l)" "$(wc -l <seeds)"
same racy-cost "$(value racy.json "d['cost']['results'] >= d['sent'] > 0 and d['cost']['users'] > 0")" True

# So is one of which both accesses are made by the C library. Of one that the kernel makes, the hive learns that it cannot be tried.
told() { python3 -c "import json, sqlite3
results = [json.loads(b) for b, in sqlite3.connect('hive.db').execute('SELECT body FROM events WHERE kind = ?', ['result'])]
print({sum(r['none']) for r in results if 'none' in r})"; } # of how many of its accesses a task was told to have no instruction
for budget in 20s 40s 80s; do
    crowd copies --runs=20 --rmax=100% --budget=$budget --format=json -- ./copies >copies.json 2>err
    [ "$(value copies.json "v['true race']")" = 1 ] && [ "$(told)" != "set()" ] && break
done
same copies "$(value copies.json "v['true race'], v['unknown'], d['candidates']")" "1 1 2"
same copies-no-instruction "$(told)" "{1}"

# What is no race is none, and why is known: it is ordered.
crowd quiet --runs=40 --rmax=100% --budget=60s --format=json -- ./quiet pids >quiet.json 2>err
same quiet-status "$?" 0
same quiet "$(value quiet.json "v['true race'], how['synchronisation']")" "0 1"
sums quiet quiet.json
crowd quiet --runs=2 --budget=60s -- ./quiet pids >out 2>err
has text out "quiet: 2 runs" "true race              causes hang" "likely false positive  synchronisation" "unknown" "% aggregate"

# All that a crowd has started, by the session that it was started in. None of it ends by itself.
gone() { # NAME SESSION
    left=1500
    while ps -o stat= -s "$2" | grep -q '^[^Z]' && [ $left -gt 0 ]; do sleep 0.02 && left=$((left - 1)); done
    if [ $left -gt 0 ]; then ok "$1"; else bad "$1" "$(ps -o pid=,stat=,args= -s "$2" | tr '\n' '|')"; fi
}
numbers() { cat state/*/*/user | sort; }
for signal in KILL INT; do
    rm -f pids
    setsid "$deadheat" crowd --users=50 --state=state --hive="$url" --key-file=quiet.key --admin-token-file=token --runs=100000 --jobs=3 --budget=10m \
        --format=json -- ./quiet pids 'up{job}' >killed.json 2>err &
    session=$!
    until [ "$(cat pids 2>/dev/null | wc -l)" -eq 3 ]; do sleep 0.02; done
    kill -$signal $session
    wait $session 2>/dev/null
    same "$signal-status" "$?" "$([ $signal = KILL ] && echo 137 || echo 130)"
    gone "$signal-gone" $session
    numbers >"numbers.$signal"
done
same interrupted "$(value killed.json "d['interrupted'] and sum(v.values()) == d['candidates']")" True
rm -f up*
same goes-on "$(comm -23 numbers.KILL numbers.INT | wc -l)" 0

# A server has a client, and is asked to end when that has; the two at a time have files of their own.
rm -f pids
crowd quiet --runs=4 --jobs=2 --budget=60s --client='until [ -e up{job} ]; do sleep 0.01; done; rm up{job}; echo {job} {user} >>clients' --format=json \
    -- ./quiet pids 'up{job}' >server.json 2>err
same server "$?:$(value server.json "d['ended'], d['crashed'], d['late']"):$(wc -l <clients)" "0:4 0 0:4"
# One that nobody ends takes too long.
crowd quiet --runs=1 --jobs=1 --limit=1s --budget=60s --format=json -- ./quiet pids up >late.json 2>err
same late "$?:$(value late.json "d['ended'], d['late']")" "0:1 1"
# Inputs.
mkdir inputs && touch inputs/a inputs/b && rm -f pids
crowd quiet --runs=16 --seed=3 --budget=60s --inputs=inputs -- ./quiet '{input}.pids' >out 2>err
same inputs "$?:$(cat inputs/*.pids | wc -l):$(ls inputs | tr '\n' ' ')" "0:16:a a.pids b b.pids "

# What cannot be used.
fails() { # NAME WORDS COMMAND...
    name=$1 words=$2
    shift 2
    "$@" >out 2>err
    same "$name" "$?" 2
    has "$name-words" err "$words"
}
echo dhk0000 >wrong.key
fails wrong-key "status 401" crowd wrong --runs=1 -- ./racy
fails wrong-hive "cannot be reached" "$deadheat" crowd --users=2 --hive=http://127.0.0.1:1 --key-file=racy.key --state=other -- ./racy
fails no-program "which program?" crowd racy
fails no-file "cannot run './none'" crowd racy -- ./none
fails no-field "holds no table of pairs" crowd racy -- /bin/true
fails no-number "--users cannot be 'x'" crowd racy --users=x -- ./racy
fails no-time "--budget cannot be '1'" crowd racy --budget=1 -- ./racy
fails no-flag "--users" crowd racy --user=1 -- ./racy
fails no-inputs "there are no files" crowd racy --inputs=nowhere -- ./racy
exit $failed
