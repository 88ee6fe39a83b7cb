"""pieces.py COMMAND... - run it with a socket that keeps messages apart as standard error; print how many messages a report is in."""

import socket
import subprocess
import sys

ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
with subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=theirs.fileno()):
    theirs.close()
    messages = list(iter(lambda: ours.recv(1 << 20), b""))
first = next(i for i, m in enumerate(messages) if m.startswith(b"WARNING"))
last = next(i for i, m in enumerate(messages) if b"Fingerprint" in m)
print(last - first + 1)
