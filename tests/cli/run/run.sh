#!/bin/sh
# run.sh DEADHEAT - `deadheat run` and the dispatch of commands. The programs here only pretend to have been
# compiled by deadheat: they show what reached them.
. "$(dirname "$0")/../lib.sh"

run() { # ARGUMENTS: sets status, fills out and err
    "$deadheat" run "$@" >out 2>err
    status=$?
}

cd "$work" || exit 1
cat >show.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef MARKED
void __dh_module_init_v3(const void *marker) { (void)marker; }
#endif
int main(int argc, char **argv)
{
    const char *s = getenv("DEADHEAT_OPTIONS");
    const char *reporter = s ? strstr(s, "reporter=") : NULL;
    printf("%.*s", reporter ? (int)(reporter - s) : s ? (int)strlen(s) : 0, s ? s : "");
    for (int i = 1; i < argc; i++)
        printf(" [%s]", argv[i]);
    return 7;
}
END
clang-19 -DMARKED -rdynamic show.c -o marked && clang-19 show.c -o plain || { bad compile "clang-19 failed"; exit 1; }
strip marked -o stripped
printf '#!/bin/sh\nexec ./marked "$@"\n' >script
chmod +x script

run ./marked
same plain-run "$status:$(cat out err)" "7:"
run --on-race=stop --max-reports=5 -- ./marked --on-race=x -- b
same flags "$status:$(cat out err)" "7:on_race=stop:max_reports=5: [--on-race=x] [--] [b]"
run ./marked -- --stats
same first-word-ends-flags "$(cat out)" " [--] [--stats]"
DEADHEAT_OPTIONS=exitcode=5:stats=0 "$deadheat" run --stats --exitcode=6 -- ./marked >out
same flags-win "$(cat out)" "exitcode=5:stats=0:stats=1:exitcode=6:"
: >"it's"
run --output=a:b.jsonl --suppressions="it's" -- ./marked
same quoting "$(cat out)" "output='a:b.jsonl':suppressions=\"it's\":output='$work/a:b.jsonl':suppressions=\"$work/it's\":"
run --output=/dev/null -- ./marked
same absolute "$(cat out)" "output=/dev/null:"
run --output="'\"" -- ./marked
same both-quotes "$status:$(cat err)" "2:deadheat run: error: the value of --output holds both kinds of quotes"
run ./stripped
same stripped-program "$status" 7
run ./script x
same script "$status:$(cat out)" "7: [x]"
run ./plain
same not-instrumented "$status" 7
starts not-instrumented-sentence "$(cat err)" "deadheat run: error: nothing that ran was compiled by deadheat"
run --force ./plain
same force "$status:$(cat err)" 7:
PATH=$work:$PATH "$deadheat" run -- marked >out 2>err
same found-in-path "$?" 7
run --force -- env
same names-itself-as-reporter "$(grep ^DEADHEAT_OPTIONS= out)" "DEADHEAT_OPTIONS=reporter=$(readlink -f "$deadheat")"
run --force --reporter=/x/y -- env
same own-reporter "$(grep ^DEADHEAT_OPTIONS= out)" "DEADHEAT_OPTIONS=reporter=/x/y"
run -- ./absent
same absent-program "$status:$(cat err)" "127:deadheat run: error: cannot run './absent': No such file or directory"
run -- "$work"
same directory "$status" 126
: >not-executable
run -- ./not-executable
same not-executable "$status" 126
run
starts no-program "$status:$(cat err)" "2:deadheat run: error: which program?"
run --detector=fasttrack -- ./marked
same detector "$status:$(cat out)" "7:detector=fasttrack:"
run --detector=djt -- ./marked
same no-detector "$status:$(cat err)" "2:deadheat run: error: there is no detector 'djt'; did you mean 'djit'?"
run --on-rcae=stop -- ./marked
same nearest-option "$status:$(cat err)" "2:deadheat run: error: unknown option '--on-rcae'; did you mean '--on-race'?"
run --onrace=stop -- ./marked
same nearest-flag "$status:$(cat err)" "2:deadheat run: error: unknown option '--onrace'; did you mean '--on-race'?"
DEADHEAT_OPTIONS=onrace=stop "$deadheat" run -- ./marked >out 2>err
same nearest-in-environment "$?:$(cat err)" "2:deadheat run: error: DEADHEAT_OPTIONS: unknown option 'onrace'; did you mean 'on_race'?"
run --forse -- ./marked
same nearest-own "$status:$(cat err)" "2:deadheat run: error: unknown option '--forse'; did you mean '--force'?"
run --quite-another -- ./marked
same no-near-option "$status:$(cat err)" "2:deadheat run: error: unknown option '--quite-another'; --help lists all"
run --on-race=explode -- ./marked
same bad-value "$status:$(cat err)" "2:deadheat run: error: option '--on-race' cannot be 'explode'; it must be report, stop or exception"
run --output -- ./marked
same missing-value "$status:$(cat err)" "2:deadheat run: error: --output needs a value: --output=VALUE"
run --on-race -- ./marked
same missing-word "$status:$(cat err)" "2:deadheat run: error: --on-race needs a value: --on-race=VALUE"
run -x ./marked
starts unknown-flag "$status:$(cat err)" "2:deadheat run: error: unknown option '-x'"
DEADHEAT_OPTIONS=exitcod=5 "$deadheat" run -- ./marked >out 2>err
same bad-environment "$?:$(cat out err)" "2:deadheat run: error: DEADHEAT_OPTIONS: unknown option 'exitcod'; did you mean 'exitcode'?"

run --help
starts run-help "$status:$(cat out)" "0:usage: deadheat run"
case $(cat out) in *"--max-reports=N"*"(default: 1000)"*) ok run-help-options ;; *) bad run-help-options "not listed" ;; esac
"$deadheat" help report >out 2>err
starts help-report "$?:$(cat out)" "0:usage: deadheat report"
"$deadheat" help nonsense >out 2>err
same help-nonsense "$?" 2
"$deadheat" --help >out 2>err
starts help "$?:$(cat out)" "0:deadheat finds data races"
"$deadheat" >out 2>err
starts no-command "$?:$(cat err)" "2:deadheat finds data races"
"$deadheat" --version >out 2>err
starts version "$?:$(cat out)" "0:deadheat "
"$deadheat" rnu >out 2>err
same nearest-command "$?:$(cat err)" "2:deadheat: error: there is no command 'rnu'; did you mean 'run'?"
"$deadheat" zzzzzzzz >out 2>err
same no-such-command "$?:$(cat err)" "2:deadheat: error: there is no command 'zzzzzzzz'; 'deadheat --help' lists them"
ln -s "$deadheat" deadheat-cc
./deadheat-cc --dh-help >out 2>err
starts linked-driver "$?:$(cat out)" "0:usage: deadheat cc"

exit $failed
