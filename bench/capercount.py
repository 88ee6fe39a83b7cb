"""The instructions that Caper builds of the kernels execute with one thread: bench/caper --count.

Valgrind has no room for a shadow of 8 TB, so these builds have a library whose shadow is smaller, and large enough for
the addresses that programs get there.
"""
import json
import os
import pathlib
import shlex
import tempfile

import harness
import instructions
import kernel
from caperjobs import PLAIN, STEADY, Configuration, States

ENOUGH = 60e6  # instructions, so that beginnings weigh little: work is raised until it takes as many
SHADOW = 1 << 33
FLAG = f"-DDH_CAPER_SHADOW_SIZE={SHADOW}ul"
ARCHIVE = "libdeadheat-caper.a"


def small_library(tools, directory):
    """Where `deadheat cc` finds all its parts, one of which is compiled anew."""
    parts, objects = tools.deadheat.parent.parent / "lib" / "deadheat", tools.deadheat.parent.parent / "obj"
    library = directory / "library"
    library.mkdir()
    for part in parts.iterdir():
        if part.name != ARCHIVE:
            (library / part.name).symlink_to(part)
    made = []
    for unit in json.loads((objects / "compile_commands.json").read_text(encoding="utf-8")):
        if f"{ARCHIVE}.p/" not in unit["output"]:
            continue
        command = shlex.split(unit["command"])
        made.append(library / pathlib.Path(unit["output"]).name)
        command[command.index("-o") + 1] = made[-1]
        harness.build([*command, FLAG, "-MF", "/dev/null"], directory / "log", cwd=objects)
    harness.build(["ar", "rcs", library / ARCHIVE, *made], directory / "log")
    return library


# In this order: the first run that asks anything begins with an empty state, and the next finds nothing new.
CONFIGURATIONS = (
    Configuration("asleep", "caper"),
    Configuration("escape analysis", "caper", ("--ask=none",)),
    Configuration("first run", "caper", ()),
    STEADY,
)


class Counter:
    """Counts the instructions of kernels."""

    def __init__(self, tools, directory):
        self.tools, self.directory = tools, directory
        self.env = dict(os.environ, DEADHEAT_LIBDIR=str(small_library(tools, directory)))

    def programs(self, source):
        for kind in ("native", "caper"):
            program = self.directory / f"{source.stem}.{kind}"
            command = kernel.compile_command(self.tools, kind, source, program)
            harness.build(command, self.directory / "log", env=self.env)
            yield kind, program

    def row(self, source):
        counts, states = {}, States(self.tools, pathlib.Path(tempfile.mkdtemp(dir=self.directory)))
        try:
            programs = dict(self.programs(source))
            least = instructions.count((programs["native"], 1, 1, 1))
            scale = max(1, min(100, int(ENOUGH / least)))
            for configuration in (PLAIN, *CONFIGURATIONS):
                program = programs[configuration.kind]
                before = states.before(configuration, program)
                counts[configuration.name] = instructions.count((program, 1, scale, 1), before)
        except harness.Failure as failure:
            return {"name": source.stem, "note": str(failure)}
        return {"name": source.stem, "scale": scale, "plain": counts.pop(PLAIN.name), "counts": counts}


def counted(tools, directory, sources, say):
    """All of these kernels: a part of docs/caper.json."""
    counter, rows = Counter(tools, directory), []
    for source in sources:
        say(f"{source.stem}: counting instructions")
        rows.append(counter.row(source))
    return {"machine": harness.machine(), "rows": rows}
