# SPDX-License-Identifier: Apache-2.0
"""What the speed comparisons share: a fair environment, interleaved runs, medians, tables, JSON.

Every contender runs in its own process, which prints one JSON object with at least `seconds`.
Contenders alternate (a b c a b c ...), so that a busy moment of the machine affects all of them, and the
median over the repetitions counts. Import this before numpy if the BLAS core type matters.
"""
import functools
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
PROGRAM = os.environ.get("MILIEU_PROGRAM", os.path.join(ROOT, "build/release/bin/milieu"))


@functools.lru_cache
def bench_program(name):
    """The program of bench/speed/NAME_bench.cc, built with the bench preset, or the one named by
    MILIEU_NAME_BENCH."""
    given = os.environ.get(f"MILIEU_{name.upper()}_BENCH")
    if given:
        return given
    build = os.environ.get("MILIEU_BENCH_BUILD", os.path.join(ROOT, "build/bench"))
    quiet = {"cwd": ROOT, "stdout": subprocess.DEVNULL, "check": True}
    subprocess.run(["cmake", "--preset", "bench", "-B", build, "-Wno-dev"], **quiet)
    subprocess.run(["cmake", "--build", build, "--target", f"milieu_{name}_bench"], **quiet)
    return os.path.join(build, f"bin/milieu_{name}_bench")


def cpu_field(name):
    """The first line of /proc/cpuinfo called `name`, or nothing."""
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith(name):
                return line.split(":", 1)[1].strip()
    return ""


def blas_core():
    """The OpenBLAS core type that suits this CPU; Debian's OpenBLAS does not know new ones."""
    flags = cpu_field("flags").split()
    if "avx512vl" in flags and "avx512dq" in flags:
        return "SKYLAKEX"
    if "avx2" in flags and "fma" in flags:
        return "ZEN" if cpu_field("vendor_id") == "AuthenticAMD" else "HASWELL"
    return None


def environment(threads):
    """An environment in which every library uses `threads` threads and the right core type."""
    env = dict(os.environ)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS"):
        env[name] = str(threads)
    if blas_core():
        env.setdefault("OPENBLAS_CORETYPE", blas_core())
    env["PYTHONWARNINGS"] = "ignore"
    return env


def peak_of(process):
    """Waits for a process; its peak resident memory in bytes, by polling.

    The operating system's figure (ru_maxrss) also counts the memory of the parent process.
    """
    peak = 0
    while True:
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        if ended:
            process.returncode = os.waitstatus_to_exitcode(status)
            return peak, usage
        try:
            with open(f"/proc/{process.pid}/status") as file:
                lines = [line for line in file if line.startswith("VmHWM")]
            peak = max([peak] + [1024 * int(line.split()[1]) for line in lines])
        except OSError:
            pass
        time.sleep(0.001)


def run(command, threads=1):
    """Runs a command; what it printed as JSON, with `process_seconds` and `peak_bytes` added."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.perf_counter()
        process = subprocess.Popen(list(map(str, command)), stdout=out, stderr=err,
                                   env=environment(threads))
        peak, usage = peak_of(process)
        elapsed = time.perf_counter() - began
        out.seek(0)
        err.seek(0)
        if process.returncode:
            sys.exit(f"{' '.join(map(str, command))} failed:\n{err.read().decode()}")
        text = out.read().decode()
    result = json.loads(text) if text.lstrip().startswith("{") else {}
    result["process_seconds"] = elapsed
    result["cpu_seconds"] = usage.ru_utime + usage.ru_stime
    result["peak_bytes"] = peak
    return result


def idle_bytes(program):
    """Memory of a program that only prints its version; it is short-lived, so the maximum of many tries."""
    return max(run([program, "--version"])["peak_bytes"] for _ in range(20))


def interleave(contenders, repeat, threads=1):
    """contenders: name -> command. All runs by name; the contenders alternate."""
    runs = {name: [] for name in contenders}
    for _ in range(repeat):
        for name, command in contenders.items():
            runs[name].append(run(command, threads))
    return runs


def median(runs, field="seconds"):
    return statistics.median(r[field] for r in runs)


def machine():
    return {"cpu": cpu_field("model name") or platform.machine(), "cores": os.cpu_count(),
            "system": platform.platform(), "python": platform.python_version(),
            "blas_core": blas_core(), "load": list(os.getloadavg())}


def print_table(header, rows):
    """Columns as wide as their widest entry; numbers to the right."""
    texts = [list(map(str, header))] + [
        [f"{v:.3g}" if isinstance(v, float) else str(v) for v in row] for row in rows]
    widths = [max(len(row[i]) for row in texts) for i in range(len(header))]
    for row in texts:
        print("  ".join(t.ljust(w) if i == 0 else t.rjust(w)
                        for i, (t, w) in enumerate(zip(row, widths))))
    sys.stdout.flush()


def write_json(path, **content):
    if not path:
        return
    with open(path, "w") as file:
        json.dump({"machine": machine(), **content}, file, indent=1)
        file.write("\n")


def largest_memory(pid):
    """Megabytes that a running process took at most so far."""
    with open(f"/proc/{pid}/status") as file:
        return next((int(line.split()[1]) / 1000 for line in file if line.startswith("VmHWM")), float("nan"))
