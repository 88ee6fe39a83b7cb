"""More real programs, as programs.py has them: those that encode and decode video, without their assembly."""
import hashlib
import subprocess

from steps import CFLAGS, MAKE


def picture(job, frames):
    """The encoders' input, made once: frames of 352 by 288."""
    path = job.bench.work / f"clip-{frames}.y4m"
    if not path.exists():
        part = path.with_suffix(".part")
        with open(part, "wb") as f:
            subprocess.run([job.helper("clip.c"), "352", "288", str(frames)], stdout=f, check=True)
        part.rename(path)
    return path


class X264:
    """Encode with two threads, each a frame; every build must make the same stream."""

    name, package = "x264", "x264"

    def build(self, job):
        # What else it could read and write needs libraries; without fast-math, so that every build computes the same.
        without = ("asm", "opencl", "avs", "swscale", "lavf", "ffms", "gpac", "lsmash")
        job.step(
            ["env", f"CC={job.cc}", "./configure", f"--extra-cflags={CFLAGS} -fno-fast-math"]
            + [f"--extra-ldflags={' '.join(job.cc.split()[1:])}", "--bit-depth=8", "--chroma-format=420"]
            + [f"--disable-{part}" for part in without]
        )
        job.step(MAKE + ["x264"])

    def run(self, job):
        stream, clip = job.scratch / "clip.264", picture(job, 8 if job.quick else 40)
        argv = [job.tree / "x264", "--quiet", "--threads", "2", "--preset", "fast", "-o", stream, clip]
        return job.measure(argv), hashlib.sha256(stream.read_bytes()).digest()


class Dav1d:
    """Decode with two threads a stream that aomenc made; the sum over all pictures must be the same."""

    name, package = "dav1d", "dav1d"

    def build(self, job):
        job.step(
            ["env", f"CC={job.cc}", f"CFLAGS={CFLAGS}", "meson", "setup", "out", "--buildtype=plain"]
            + ["-Denable_asm=false", "-Denable_tests=false", "-Ddefault_library=static", "-Db_lundef=false"]
        )
        job.step(["ninja", "-j2", "-C", "out"])

    def run(self, job):
        clip = picture(job, 40 if job.quick else 400)
        stream = clip.with_suffix(".ivf")
        if not stream.exists():
            part = stream.with_suffix(".part")
            encode = ["aomenc", "--ivf", "--cpu-used=8", "--rt", "--tile-columns=1", "--end-usage=q", "--cq-level=20"]
            subprocess.run([*encode, "-o", part, clip], check=True, stderr=subprocess.DEVNULL)
            part.rename(stream)
        tool = job.tree / "out" / "tools" / "dav1d"
        argv = ["--threads", "2", "--muxer", "md5", "-q", "-o", "-", "-i", stream]
        return job.measure_output([tool, *argv])
