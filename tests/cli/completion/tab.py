#!/usr/bin/env python3
"""tab.py COMPLETION - a bash at a terminal, with this completion: of each line `CASE: text^` the text is typed, completed
where ^ stands, and printed as the shell then understands it, `CASE: line`."""
import os
import pty
import subprocess
import sys

RC = 'tab.rc'


def main():
    lines = [line.rstrip('\n').split(': ', 1) for line in sys.stdin]
    with open(RC, 'w', encoding='utf-8') as f:
        f.write(f"PS1=\nbind 'set bell-style none'\nbind 'set enable-bracketed-paste off'\nsource {sys.argv[1]}\n")
    master, slave = pty.openpty()
    shell = subprocess.Popen(['bash', '--noprofile', '--rcfile', RC, '-i'], stdin=slave, stdout=slave, stderr=slave,
                             start_new_session=True, env={**os.environ, 'TERM': 'dumb', 'HISTFILE': ''})
    os.close(slave)
    # Ctrl-A: the line itself becomes the argument of echo.
    typed = ''.join(f'{text.replace("^", chr(9))}\x01echo {case}: \r' for case, text in lines) + 'exit\r'
    os.write(master, typed.encode())
    printed = b''
    try:
        while piece := os.read(master, 4096):
            printed += piece
    except OSError:  # the other side is closed
        pass
    shell.wait()
    for line in printed.decode(errors='replace').replace('\r', '\n').split('\n'):
        if any(line.startswith(case + ': ') for case, _ in lines):
            print(line.rstrip())


main()
