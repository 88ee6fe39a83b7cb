#!/usr/bin/env python3
"""guide.py GUIDE.md - runs the commands of a guide in the current directory, which has examples/, and compares what they print
with what the guide shows.

A block of code is one of these, told by how it begins:

  $ command      A session: commands behind `$ `, each with its output, in one shell from block to block. All of the output is
                 shown, but for `...`, which stands for any number of lines.
  deadheat X ... A synopsis, with [OPTIONS] or names in capitals: the options that it names are those of --help.
  make, cmake, ./configure, ...  What is done with a project of the reader's own; tests/cli/cc has such projects.
  anything else  No command; a command without `$ ` is an error, lest one be forgotten.

An HTML comment in front of a block, unseen by readers, says more about it:

  <!-- file NAME -->    The block is the content of a file, which is made.
  <!-- output -->       The block is part of what the last command printed.
  <!-- not run: WHY --> It stands for something else.
  <!-- run COMMAND -->  A command that readers do with their editor; no block belongs to it.

What differs from run to run is made equal on both sides: addresses, processes, threads by their number, times and sizes.
"""
import re
import subprocess
import sys

OWN_PROJECT = re.compile(r'(CC=\S+ |CXX=\S+ |DEADHEAT_OPTIONS=\S+ )*(make|cmake|\./configure|meson|ninja|gdb)\b')
COMMAND = re.compile(r'([A-Z_]+=\S+ )*(\./|deadheat[ -]|clang|gcc|cp |echo |make\b|cmake\b|meson\b|ninja\b|gdb\b)')
SYNOPSIS = re.compile(r'deadheat( [a-z+]+)? .*(\[|[A-Z]{4})')
VARYING = [
    (r'0x[0-9a-f]+', 'ADDRESS'),
    (r'\((pid|tid) \d+([,)])', r'(\1 N\2'),
    (r'\b[Tt]hread T[0-9]+', 'thread Tn'),
    (r"\bT[0-9]+ '", "Tn '"),
    (r'\d+\.\d+', 'N.N'),
    (r' \(\d+ repetitions?\)', ''),
    (r'^  dh2-.*: \d+ times$', ''),
    (r'record: \d+ events', 'record: N events'),
    (r'\d+ as recorded', 'N as recorded'),
    (r'\d+ periods?', 'N periods'),
    (r'\d+ counted', 'N counted'),
    (r'[ \t]+', ' '),
]
SHELL = '''exec >"$outputs"/out.%d 2>&1
(exit $status)
%s
status=$?
'''


def normal(line):
    for pattern, text in VARYING:
        line = re.sub(pattern, text, line)
    return line.strip()


def lines_of(texts):
    """Normalised, without blank lines, and the program's own words first: they come when its output is flushed."""
    found = [normal(t) for t in texts]
    found = [t for t in found if t]
    return [t for t in found if 'requests served' in t] + [t for t in found if 'requests served' not in t]


def fits(shown, printed, anywhere=False):
    """Do the lines shown stand for those printed? By trying every length of every `...`."""
    if not shown:
        return anywhere or not printed
    if shown[0] == '...':
        return any(fits(shown[1:], printed[i:], anywhere) for i in range(len(printed) + 1))
    return bool(printed) and shown[0] == printed[0] and fits(shown[1:], printed[1:], anywhere)


def blocks(path):
    """(line, directive or None, lines of the block or None for a directive alone)"""
    lines = open(path, encoding='utf-8').read().split('\n')
    directive, at, i = None, 0, 0
    while i < len(lines):
        comment = re.fullmatch(r'<!-- ((file|output|not run|run)\b.*) -->', lines[i])
        if comment:
            if comment.group(2) == 'run':
                yield i + 1, comment.group(1), None
            else:
                directive, at = comment.group(1), i
        elif lines[i].startswith('    ') and not lines[i - 1].strip():
            end = i
            while end < len(lines) and (lines[end].startswith('    ') or not lines[end].strip()):
                end += 1
            block = [line[4:] for line in lines[i:end]]
            while not block[-1].strip():
                block.pop()
            yield i + 1, directive, block
            directive, i = None, end - 1
        elif directive and lines[i].strip():
            sys.exit(f'{at + 1}: <!-- {directive} --> is not in front of a block')
        i += 1


def check_synopsis(line, block):
    words = ' '.join(block).split()
    command = [] if words[1].startswith('[') else words[1:2]
    help_flag = '--dh-help' if command in (['cc'], ['c++']) else '--help'
    text = subprocess.run(['deadheat'] + command + [help_flag], capture_output=True, text=True, check=True).stdout
    for option in re.findall(r'--[a-z-]+', ' '.join(block)):
        if option not in text:
            sys.exit(f'{line}: {option} is not in deadheat {" ".join(command)} {help_flag}')


def read_session(line, block):
    """[(line, command, lines shown)]"""
    commands = []
    for n, text in enumerate(block):
        if text.startswith('$ '):
            commands.append((line + n, text[2:], []))
        else:
            commands[-1][2].append(text)
    return commands


def plan(path):
    """What is to be run, in order: (line, command, shown, parts); parts are blocks of <!-- output -->."""
    steps = []
    for line, directive, block in blocks(path):
        if directive and directive.startswith('run '):
            steps.append((line, directive[4:], None, []))
        elif directive and directive.startswith('file '):
            text = '\n'.join(block)
            steps.append((line, f"cat >{directive[5:]} <<'END OF FILE'\n{text}\nEND OF FILE", None, []))
        elif directive == 'output':
            steps[-1][3].append((line, block))
        elif directive:
            continue
        elif block[0].startswith('$ '):
            steps += [(n, command, shown, []) for n, command, shown in read_session(line, block)]
        elif SYNOPSIS.match(block[0]):
            check_synopsis(line, block)
        elif not all(OWN_PROJECT.match(text) for text in block):
            for n, text in enumerate(block):
                if COMMAND.match(text):
                    sys.exit(f'{line + n}: a command without "$ ": {text}')
    return steps


def main():
    steps = plan(sys.argv[1])
    script = 'status=0 outputs=$PWD\n' + ''.join(SHELL % (i, step[1]) for i, step in enumerate(steps))
    subprocess.run(['sh'], input=script, text=True, check=False, timeout=300)
    bad = 0
    for i, (line, command, shown, parts) in enumerate(steps):
        printed = lines_of(open(f'out.{i}', encoding='utf-8').read().split('\n'))
        if shown is not None and not fits(lines_of(shown), printed):
            print(f'{line}: $ {command}: shown', lines_of(shown), 'printed', printed)
            bad = 1
        for at, block in parts:
            if not fits(['...'] + lines_of(block), printed, anywhere=True):
                print(f'{at}: not in the output of $ {command}:', lines_of(block), 'printed', printed)
                bad = 1
    sys.exit(bad)


main()
