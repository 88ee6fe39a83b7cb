#!/usr/bin/env python3
"""sections.py DEADHEAT PROGRAM HEADER OUT - adds the sections of a Caper build (base/caper.h) to a field build: a group for each
site, in the order of the table. Prints how many."""
import json, re, struct, subprocess, sys

deadheat, program, header, out = sys.argv[1:5]
names = dict(re.findall(r'#define (DH_CAPER_\w+) "([^"]+)"', open(header).read()))
table = json.loads(subprocess.check_output([deadheat, "static", "--style=sound", "--format=json", program]))
sites = [a["site"] for f in table["findings"] for a in f["accesses"]]
n = max(sites) + 1
words = [w for i in range(n) for w in (1, i)]
open(out + ".groups", "wb").write(struct.pack("<%dI" % len(words), *words))
open(out + ".head", "wb").write(struct.pack("<IIQ", 1, n, len(words)))
subprocess.check_call(["objcopy", "--add-section", names["DH_CAPER_GROUPS"] + "=" + out + ".groups",
                       "--add-section", names["DH_CAPER_HEAD"] + "=" + out + ".head", program, out])
print(n)
