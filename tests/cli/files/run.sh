#!/bin/sh
# run.sh DEADHEAT - what the commands write: output that does not arrive is told, no input is overwritten, a file has its name
# only when it is complete, a recording in progress is locked and completed when the recorder is told to end.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit 1
"$deadheat" cc -g -O1 -pthread "$here/waits.c" -o waits &&
    "$deadheat" cc --dh-mode=field -g -O1 -pthread "$here/waits.c" -o field || { bad compile "deadheat cc failed"; exit 1; }
{
    echo 'T1|fork(T2)|1'
    echo 'T1|w(x)|2'
    echo 'T2|r(x)|3'
} >t.std
"$deadheat" trace convert -o t.dht t.std || bad convert "it failed"
"$deadheat" run --report=0 --output=races.jsonl -- ./waits >/dev/null </dev/null
sum() { cksum <"$1"; }
waits=$(sum waits) field=$(sum field) text=$(sum t.std) binary=$(sum t.dht)

# ---- Output that does not arrive: status 2 and one sentence, whatever the command found ----
full() { # NAME ARGUMENTS...
    name=$1
    shift
    "$deadheat" "$@" >/dev/full 2>err </dev/null
    same "full-$name" "$?:$(grep -c 'cannot write to standard output: No space left on device' err)" 2:1
}
full help --help
full version --version
full help-command help run
for command in run record report analyze compare static detectors trace; do
    full "help-$command" $command --help
done
full help-cc cc --dh-help
full report-json report --format=json races.jsonl
full analyze analyze t.std
full analyze-json analyze --format=json t.std
full trace-cat trace cat t.std
full trace-cat-recording trace cat t.dht
full trace-info trace info t.dht
full trace-info-json trace info --format=json t.dht
full trace-convert trace convert -o - t.dht
full detectors detectors
full detectors-json detectors --format=json
for format in text csv json html; do
    full compare-$format compare --format=$format --detectors=empty,fasttrack t.std
done
for format in text json sarif html; do
    full static-$format static --format=$format ./field
done
for command in 'static --output' 'trace convert -o'; do
    # shellcheck disable=SC2086
    case $command in
    static*) "$deadheat" $command=/dev/full ./field >out 2>err ;;
    *) "$deadheat" $command /dev/full t.dht >out 2>err ;;
    esac
    rc=$?
    same "full-file-${command%% *}" "$rc:$(grep -c 'cannot write .*/dev/full.*: No space left on device' err)" 2:1
done
# Documents of a run are written by a process of their own, which has let go of the command's descriptors.
for file in /dev/full /dev/stdout /dev/fd/5; do
    "$deadheat" run --report=0 --format=json:$file -- ./waits >/dev/full 2>err </dev/null 5>&1
    same "full-document-${file##*/}" "$?:$(grep -c "cannot write '$file': No space left on device" err)" 2:1
done
"$deadheat" run --report=0 --format=csv:/dev/stdout --format=csv:/dev/fd/5 --format=csv:file.csv -- ./waits >out 2>err </dev/null 5>fifth
same documents-to-descriptors "$?:$(grep -c '^fingerprint,' out):$(cksum <fifth)" "3:1:$(sum file.csv)"
"$deadheat" chase --any --output=/dev/full -- ./field >out 2>err </dev/null
same full-chase "$?:$(grep -c 'cannot write the records: No space left on device' err)" 2:1
# More than one buffer of it, so that the error comes before the end; and what is not open at all.
awk 'BEGIN { for (i = 0; i < 20000; i++) print "T1|w(variable" i ")|1" }' >long.std
full long trace cat long.std
"$deadheat" trace cat t.std >&- 2>err
same closed "$?:$(grep -c 'cannot write to standard output: Bad file descriptor' err)" 2:1
"$deadheat" trace convert -o closed.std t.dht >&- 2>&- <&-
same closed-for-a-file "$?:$(sum closed.std)" "0:$text"

# Beyond a file size limit it is an error of the write. What the commands start finds the signals as they were.
limited() { # ARGUMENTS...
    (ulimit -f 0 && exec "$deadheat" "$@" >limited 2>&5 </dev/null) 5>&1 | cat
}
for command in --version 'report --format=json races.jsonl' 'trace convert -o limited.std t.dht'; do
    # shellcheck disable=SC2086
    same "too-large-${command%% *}" "$(limited $command | grep -c 'cannot write .*: File too large')" 1
done
signals=$(grep ^SigIgn /proc/self/status)
mkfifo next
same too-large-not-inherited "$("$deadheat" run --force -- grep ^SigIgn /proc/self/status)" "$signals"
"$deadheat" chase --any --client='grep ^SigIgn /proc/self/status >ignored; echo >next' -- ./field <>next >out 2>err
same ignored-not-inherited "$(cat ignored)" "$signals"

# ---- An output that is an input ----
ln -s t.std link.std
ln t.dht hard.dht
refused() { # NAME FILE SUM ARGUMENTS...
    name=$1 file=$2 before=$3
    shift 3
    "$deadheat" "$@" >out 2>err </dev/null
    same "input-$name" "$?:$(sum "$file"):$(grep -c 'this command reads it' err)" "2:$before:1"
}
refused convert t.std "$text" trace convert -o ./t.std t.std
refused convert-link t.std "$text" trace convert -o link.std t.std
refused convert-linked t.std "$text" trace convert -o t.std link.std
refused convert-binary t.dht "$binary" trace convert -o t.dht t.dht
refused convert-hard-link t.dht "$binary" trace convert -o hard.dht t.dht
refused record waits "$waits" record -o waits -- ./waits
refused record-path waits "$waits" record --output="$work/waits" -- ./waits
refused static field "$field" static --output=field ./field
refused static-absolute field "$field" static --output="$work/field" ./field
# Every output is held against every input: what is run, what is left out, what is known, what is gone through again.
"$deadheat" report --format=json races.jsonl >known.json 2>err
echo 'race:nothing' >left-out
printf '#!/bin/sh\nexec ./waits\n' >script
chmod +x script
known=$(sum known.json) left=$(sum left-out) records=$(sum races.jsonl) script=$(sum script)
refused run-document waits "$waits" run --format=sarif:waits -- ./waits
refused run-document-script script "$script" run --force --format=sarif:script -- ./script
refused run-document-known known.json "$known" run --baseline=known.json --format=json:known.json -- ./waits
refused test waits "$waits" test -n 1 --output=waits -- ./waits
refused test-left-out left-out "$left" test -n 1 --suppressions=left-out --output=left-out -- ./waits
refused report-left-out left-out "$left" report --suppressions=left-out --output=left-out races.jsonl
refused report-known known.json "$known" report --baseline=known.json --output=known.json races.jsonl
refused report-updated known.json "$known" report --baseline=known.json --update-baseline --output=known.json races.jsonl
refused static-left-out left-out "$left" static --suppressions=left-out --output=left-out ./field
refused static-known known.json "$known" static --baseline=known.json --output=known.json ./field
for output in output summary; do
    refused chase-$output-left-out left-out "$left" chase --all --suppressions=left-out --$output=left-out -- ./field
    refused chase-$output-from races.jsonl "$records" chase --from=races.jsonl --$output=races.jsonl -- ./field
    refused chase-$output-program field "$field" chase --all --$output=field -- ./field
done
echo >state
refused chase-summary-state state "$(sum state)" chase --all --state=state --summary=./state -- ./field
# And against every other output.
"$deadheat" run --output=both --format="json:$work/both" -- ./waits >out 2>err </dev/null
same both-run "$?:$(grep -c 'cannot both go to' err):$(cat both 2>&1)" "2:1:cat: both: No such file or directory"
"$deadheat" chase --all --output=both --summary=./both -- ./field >out 2>err </dev/null
same both-chase "$?:$(grep -c 'cannot both go to' err)" 2:1
"$deadheat" run --format=json:both --format=sarif:./both -- ./waits >out 2>err </dev/null
same both-documents "$?:$(grep -c 'cannot both go to' err)" 2:1
echo 'int main(void) { return 0; }' >a.c
source=$(sum a.c)
for how in '-o a.c a.c' '-c ./a.c -oa.c'; do
    # shellcheck disable=SC2086
    "$deadheat" cc $how 2>err
    same "input-cc${how%% *}" "$(($? != 0)):$(sum a.c):$(grep -c 'is also an input' err)" "1:$source:1"
done
"$deadheat" trace convert -o t.std - <t.std 2>err
same input-standard "$?:$(sum t.std):$(grep -c 'this command reads it' err)" "2:$text:1"
cp t.std grows.std
"$deadheat" trace cat grows.std >>grows.std 2>err
same input-appended "$?:$(sum grows.std)" "2:$text"
cp t.std x.part
"$deadheat" trace convert -o x x.part 2>err
same input-part "$?:$(sum x.part):$([ -e x ] || echo 1)" "2:$text:1"

# ---- Beside the target ----
same no-parts "$(echo ./*.part)" "./x.part"
rm x.part
echo old >kept.std
chmod 640 kept.std
echo 'T1|nonsense|1' >bad.std
"$deadheat" trace convert -o kept.std bad.std 2>err
same failure-keeps-the-old "$?:$(cat kept.std):$(echo ./*.part)" '2:old:./*.part'
ln -s kept.std to-kept
"$deadheat" trace convert -o to-kept t.dht 2>err
same replaces-behind-a-link "$?:$(sum kept.std):$(readlink to-kept):$(stat -c %a kept.std)" "0:$text:kept.std:640"
umask 027
"$deadheat" trace convert -o new.std t.dht 2>err
same new-file "$?:$(sum new.std):$(stat -c %a new.std)" "0:$text:640"
ln -s elsewhere.std dangling
"$deadheat" trace convert -o dangling t.dht 2>err
same behind-a-dangling-link "$?:$(sum elsewhere.std):$(readlink dangling)" "0:$text:elsewhere.std"
ln -s kept.std trap.std.part
"$deadheat" trace convert -o trap.std t.dht 2>err
same not-through-a-link "$?:$(sum kept.std):$([ -e trap.std ] || echo 1)" "2:$text:1"
"$deadheat" trace convert -o /nowhere/x t.dht 2>err
same no-such-directory "$?:$(cat err)" '2:deadheat trace: error: cannot write /nowhere/x: No such file or directory'
"$deadheat" trace convert -o . t.dht 2>err
same a-directory "$?:$(grep -c 'cannot write .: Is a directory' err)" 2:1
# What may be written but not replaced, another user's file, is written as it is.
other() { setpriv --reuid=65534 --clear-groups "$@" 2>err; }
chmod 711 "$work"
echo old >others.std
chmod 666 others.std
if [ "$(id -u)" = 0 ] && other test -r "$work/t.std" && other test -x "$deadheat"; then
    inode=$(stat -c %i others.std)
    other "$deadheat" trace convert -o others.std t.std
    same others "$?:$(sum others.std):$(stat -c %i others.std)" "0:$text:$inode"
    chmod 644 others.std
    other "$deadheat" trace convert -o others.std t.std
    same others-refused "$?:$(grep -c 'cannot write others.std: Permission denied' err)" 2:1
else
    skip others "it takes root to be two users"
fi

# ---- What is no file ----
"$deadheat" trace convert -o /dev/stdout t.dht >out 2>err
same stdout "$?:$(sum out)" "0:$text"
echo first >out
"$deadheat" trace convert -o /dev/stdout t.dht >>out 2>err
same stdout-appended "$?:$(tail -n +2 out | cksum)" "0:$text"
"$deadheat" trace convert -o /dev/fd/5 t.dht 5>out 2>err
same descriptor "$?:$(sum out)" "0:$text"
same pipe "$("$deadheat" trace convert -o /dev/stdout t.dht 2>err | cksum)" "$text"
mkfifo fifo
cat fifo >out &
"$deadheat" trace convert -o fifo t.dht 2>err
rc=$?
wait
same fifo "$rc:$(sum out)" "0:$text"
within 20 "$deadheat" static --output=fifo ./field 2>err
same fifo-without-reader "$?:$(cat err)" "2:deadheat static: error: cannot write 'fifo': it is a pipe without a reader"

# ---- A recording in progress ----
mkfifo say hear
record() { # NAME ARGUMENTS...: starts a recording of ./waits as $recorder, and waits until that is ready as $pid
    "$deadheat" record --quiet -o "$1" -- ./waits >say <hear 2>err &
    recorder=$!
    exec 7<say 8>hear
    read -r word pid <&7
}
finish() { # ends the program; status is that of the recorder
    exec 8>&-
    wait $recorder
    status=$?
    exec 7<&-
}
echo old >run.dht
record run.dht
same ready "$word" ready
"$deadheat" record --quiet -o run.dht -- ./waits >out 2>err2 </dev/null
same second-recorder "$?:$(grep -c 'another process is writing it' err2)" 2:1
same old-one-stays "$(cat run.dht)" old
finish
same first-recorder "$status" 3
"$deadheat" analyze run.dht >out 2>err
same first-recording "$?:$(cat err):$([ -e run.dht.part ] || echo 1)" 0::1
# What ignores SIGHUP itself, such as nohup, does not make the programs in here ignore it.
(trap '' HUP && within 20 sh -c 'kill -HUP $$')
same hangup-is-not-ignored "$?" 129
for signal in TERM HUP USR1; do
    record $signal.dht
    kill -$signal $recorder
    wait $recorder
    status=$?
    exec 7<&- 8>&-
    case $signal in TERM) wanted=143 ;; HUP) wanted=129 ;; *) wanted=5 ;; esac
    same "passes-on-$signal" "$status" $wanted
    if kill -0 "$pid" 2>/dev/null; then bad "ends-with-$signal" "the program still runs"; else ok "ends-with-$signal"; fi
    "$deadheat" analyze $signal.dht >out 2>err
    same "completes-on-$signal" "$?:$(cat err)" 0:
done
record killed.dht
kill -KILL $recorder
exec 8>&-
wait $recorder 2>/dev/null
same killed-has-no-name "$([ -e killed.dht ] || echo 1)" 1
"$deadheat" trace info killed.dht >out 2>err
same killed-is-named "$?:$(grep -c 'killed.dht.part' err)" 2:1
exec 7<&-
record killed.dht
finish
same after-the-killed "$status:$("$deadheat" analyze killed.dht 2>&1 >out)" 3:

# A killed command may have left a process that has its lock until it becomes another program: it gets a moment.
cat >busy.c <<'END'
#include <errno.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>
int flock(int fd, int operation)
{
    static int calls;
    if (operation & LOCK_NB && calls++ < 3) {
        errno = EWOULDBLOCK;
        return -1;
    }
    return (int)syscall(SYS_flock, fd, operation);
}
END
clang-19 -shared -fPIC busy.c -o busy.so || bad busy "clang failed"
LD_PRELOAD=./busy.so "$deadheat" trace convert -o busy.std t.dht 2>err
same locked-for-a-moment "$?:$(cat err)" 0:

exit $failed
