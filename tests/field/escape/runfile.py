#!/usr/bin/env python3
"""runfile.py make FILE PROGRAM WANTED [FLAGS] - a run file (base/caper.h) for the program; WANTED has a 0 or 1 for each group
runfile.py show FILE - what the program wrote into it"""
import re
import struct
import subprocess
import sys

HEAD = struct.Struct("<8sII20sIII4Q")


def make(path, program, wanted, flags="1"):
    notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True).stdout
    build_id = bytes.fromhex(re.search(r"Build ID: (\w+)", notes).group(1))
    asks = bytes(int(w) for w in wanted)
    with open(path, "wb") as out:
        out.write(HEAD.pack(b"DHCAPER1", 1, len(asks), build_id, int(flags), 0, 0, 0, 0, 0, 0) + asks + bytes(len(asks)))


def show(path):
    data = open(path, "rb").read()
    _, _, n, _, _, started, ended, tracked, escapes, untracked, trouble = HEAD.unpack_from(data)
    marks = "".join(str(b) for b in data[HEAD.size + n:HEAD.size + 2 * n])
    print(f"started {started} ended {ended} tracked {tracked} escapes {escapes} untracked {untracked} "
          f"trouble {trouble} marks {marks}")


globals()[sys.argv[1]](*sys.argv[2:])
