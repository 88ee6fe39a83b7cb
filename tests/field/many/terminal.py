"""terminal.py ROWS COLUMNS COMMAND... - runs a command on a terminal of this size, and prints what its screen looked like
before the last table was taken away, a line `====`, and what it looked like at the end, with all that had scrolled out above it.

It knows as much of a terminal as deadheat uses, and fails if it is sent anything else.
"""
import fcntl
import os
import pty
import re
import struct
import sys
import termios


class Screen:
    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.lines = [""] * rows
        self.gone = []
        self.row = self.column = self.top = 0
        self.bottom = rows - 1
        self.saved = (0, 0)
        self.before = []

    def feed(self):
        if self.row == self.bottom:
            if self.top == 0:
                self.gone.append(self.lines[0])
            self.lines[self.top : self.bottom + 1] = self.lines[self.top + 1 : self.bottom + 1] + [""]
        elif self.row < self.rows - 1:
            self.row += 1

    def text(self, character):
        if self.column == self.columns:
            self.feed()
            self.column = 0
        line = self.lines[self.row].ljust(self.column)
        self.lines[self.row] = line[: self.column] + character + line[self.column + 1 :]
        self.column += 1

    def control(self, arguments, letter):
        numbers = [int(n) for n in arguments.split(";") if n]
        if letter == "A":
            self.row = max(self.row - numbers[0], 0)
        elif letter == "H":
            self.row, self.column = numbers[0] - 1, numbers[1] - 1
        elif letter == "K":
            self.lines[self.row] = self.lines[self.row][: self.column]
        elif letter == "J":
            self.lines[self.row :] = [""] * (self.rows - self.row)
        elif letter == "r":
            if not numbers:
                self.before = list(self.lines)
            self.top, self.bottom = (numbers[0] - 1, numbers[1] - 1) if numbers else (0, self.rows - 1)
            self.row = self.column = 0
        elif letter != "m":
            sys.exit("terminal.py: what is this: %s%s" % (arguments, letter))

    def take(self, text):
        for part in re.findall(r"\x1b\[[0-9;]*[A-Za-z]|\x1b[78]|[^\x1b]|\x1b", text):
            if part == "\x1b7":
                self.saved = (self.row, self.column)
            elif part == "\x1b8":
                self.row, self.column = self.saved
            elif len(part) > 1:
                self.control(part[2:-1], part[-1])
            elif part == "\n":
                self.feed()
            elif part == "\r":
                self.column = 0
            else:
                self.text(part)


def main():
    rows, columns = int(sys.argv[1]), int(sys.argv[2])
    pid, master = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.environ["TERM"] = "xterm"
        os.execvp(sys.argv[3], sys.argv[3:])
    sent = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        sent += piece
    os.waitpid(pid, 0)
    screen = Screen(rows, columns)
    screen.take(sent.decode())
    print("\n".join(screen.before))
    print("====")
    print("\n".join(screen.gone + screen.lines))


main()
