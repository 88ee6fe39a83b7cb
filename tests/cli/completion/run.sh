#!/bin/sh
# run.sh DEADHEAT - completion in shells: a bash at a terminal completes, zsh and fish read theirs, and every option that a
# command knows is among what they complete.
. "$(dirname "$0")/../lib.sh"

share=$(dirname "$(dirname "$deadheat")")/share
bash=$share/bash-completion/completions/deadheat
PATH=$(dirname "$deadheat"):$PATH
cd "$work" || exit 1
touch prog.jsonl
cat >lines <<'EOF'
commands: deadheat repo^
flag: deadheat report --sup^
value: deadheat report --format=sar^
words: deadheat run --on-race=exc^
table: deadheat run --max-r^
file: deadheat report pro^
detector: deadheat analyze --detector=gold^
part: deadheat hive --reader^
driver: deadheat-cc --dh-fr^
behind: deadheat run -- prog.jsonl --forc^
unknown: deadheat frobnicate --forc^
subcommand: deadheat hive exp^
inherited: deadheat test --exit-w^
short: deadheat test -o pro^
EOF
for shell in bash zsh; do
    command -v $shell >/dev/null || { skip $shell-tab "there is no $shell" && continue; }
    [ $shell = bash ] && file=$bash || file=$share/zsh/site-functions/_deadheat
    within 60 python3 "$here/tab.py" $shell "$file" <lines >out.$shell 2>&1
done
tab() { # CASE LINE: what it became
    like "bash-$1" out.bash "^$1: $2\$"
    # zsh takes a = away again that it has added, when the cursor moves.
    [ ! -e out.zsh ] || like "zsh-$1" out.zsh "^$1: ${2%=}\$"
}
tab commands 'deadheat report'
tab flag 'deadheat report --suppressions='
tab value 'deadheat report --format=sarif'
tab words 'deadheat run --on-race=exception'
tab table 'deadheat run --max-reports='
tab file 'deadheat report prog.jsonl'
tab detector 'deadheat analyze --detector=goldilocks'
tab part 'deadheat hive --reader-token-file='
tab driver 'deadheat-cc --dh-frontend='
tab behind 'deadheat run -- prog.jsonl --forc'
tab unknown 'deadheat frobnicate --forc'
tab subcommand 'deadheat hive export'
tab inherited 'deadheat test --exit-wait='
tab short 'deadheat test -o prog.jsonl'

# What the commands say that they know, by the source of these sentences, must be completed by all three shells.
python3 - "$here/../../.." "$share" >missing <<'EOF'
import re, subprocess, sys
root, share = sys.argv[1:]
options = re.findall(r'^DH_OPTION\((\w+),', open(root + '/include/deadheat/options.def').read(), re.M)
wanted = {('run', '--' + o.replace('_', '-')) for o in options}
for command in ('record', 'report', 'analyze', 'compare', 'static', 'chase', 'caper', 'pipeline'):
    text = open(f'{root}/src/cli/cmd_{command}.c').read()
    # the arrays of names by which a command tells what was meant
    for block in re.findall(r'const char \*const (?:flags|names|own|known)\[\] = \{(.*?)\}', text, re.S):
        wanted |= {(command, f) for f in re.findall(r'"(--[a-z-]+)"', block)}
bash = open(share + '/bash-completion/completions/deadheat').read()
zsh = open(share + '/zsh/site-functions/_deadheat').read()
fish = open(share + '/fish/vendor_completions.d/deadheat.fish').read()
assert len(wanted) > 60, wanted
for command, flag in sorted(wanted):
    if flag == '--from-runtime':
        continue # not for people
    listed = re.search(rf'^    {command}\) flags="(.*)"', bash, re.M).group(1).replace('=', ' ').split()
    part = re.search(rf'^    {command}\) _arguments(.*?);;', zsh, re.M | re.S).group(1)
    if flag not in listed or not re.search(rf"'\*{flag}[=[]", part) or \
       f"__fish_seen_subcommand_from {command}' -l {flag[2:]} " not in fish:
        print(command, flag)
EOF
same every-option "$?:$(cat missing)" 0:
for shell in bash zsh fish; do
    case $shell in
    bash) file=$bash ;;
    zsh) file=$share/zsh/site-functions/_deadheat ;;
    fish) file=$share/fish/vendor_completions.d/deadheat.fish ;;
    esac
    if command -v $shell >/dev/null; then
        $shell -n "$file" >log 2>&1
        same $shell-syntax "$?:$(cat log)" 0:
    else
        skip $shell-syntax "there is no $shell"
    fi
done
if command -v fish >/dev/null; then
    HOME=$work fish --no-config -c "source $share/fish/vendor_completions.d/deadheat.fish; complete -C 'deadheat report --format='" >out 2>&1
    has fish-value out "--format=sarif"
    HOME=$work fish --no-config -c "source $share/fish/vendor_completions.d/deadheat.fish; complete -C 'deadheat rep'" >out 2>&1
    has fish-command out "report"
    HOME=$work fish --no-config -c "source $share/fish/vendor_completions.d/deadheat.fish; complete -C 'deadheat hive exp'; complete -C 'deadheat test -'" >out 2>&1
    has fish-subcommand out export
    has fish-short out "number of runs (default: 10)" --exit-wait
    has fish-words out "in ThreadSanitizer's syntax"
    lacks fish-no-files out prog.jsonl
fi
exit $failed
