#!/usr/bin/env python3
"""Times diffwarden's own part in large runs, with stand-ins that do nothing but sleep or print.

    cargo build --release && cargo test --no-run && python3 benches/orchestration.py
        [--bin target/release/diffwarden] [--fake target/debug/fake-reviewer] [--sleep MS]

- 64 reviewers in 4 lanes, 32 at a time, each asleep for a second: the time of the whole run against
  theory (256 / 32 seconds), at most 1.15 times as long.
- From the moment a stand-in writes its answer to the moment its frame can be read: the median is to
  be below 5 ms. That includes the end of the stand-in's process. Taken from a second run of 8 lots
  of 4 that end at different times, because 32 that end at once wait for the processors and not for
  diffwarden; the number of the first run is printed too.
- 50 MB of output of one engine: at most 120 MB of memory, as many short lines, as one line, and on
  standard error.

Prints the numbers and ends with 1 when one is over its limit. They depend on the machine: run it on
an idle one, or before everybody else (`chrt -r 5 python3 ...`). Needs Linux, Python 3 and git.

Two processors, release build: 8.5 s for 8.0 s (x1.07), median 1.3 ms,
58 MiB.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

REVIEWERS, LANES, AT_A_TIME = 64, 4, 32
ENV = {
    "PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.com",
}


def answer(explanation):
    return {"reply": {"findings": [], "overall_correctness": "patch is correct",
                      "overall_explanation": explanation, "overall_confidence_score": 0.9}}


class World:
    """A repository with one edit, a home and a stand-in for Codex."""

    def __init__(self, top, runtime, options):
        self.repo, self.home, self.bin = (os.path.join(top, it) for it in ("repo", "home", "bin"))
        for folder in (self.repo, self.home, self.bin):
            os.mkdir(folder)
        self.options = options
        self.fake = os.path.join(self.bin, "codex")
        os.symlink(os.path.abspath(options.fake), self.fake)
        self.env = {**ENV, "HOME": self.home, "TMPDIR": self.home,
                    "PATH": self.bin + ":" + ENV["PATH"]}
        if runtime is not None:
            self.env["XDG_RUNTIME_DIR"] = runtime
        self.edit("1")
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "base"]):
            subprocess.run(["git", *words], cwd=self.repo, env=self.env, check=True)
        self.edit("2")

    def edit(self, value):
        with open(os.path.join(self.repo, "lib.rs"), "w", encoding="utf-8") as file:
            file.write(f"pub fn one() -> u8 {{\n    {value}\n}}\n")

    def script(self, runs):
        with open(self.fake + ".json", "w", encoding="utf-8") as file:
            json.dump({"runs": runs}, file)

    def configure(self, count):
        ids = [f"r{number:03}" for number in range(count)]
        folder = os.path.join(self.home, ".config/diffwarden")
        os.makedirs(folder, exist_ok=True)
        reviewers = [{"id": it, "engine": "codex", "model": f"model-{it}"} for it in ids]
        with open(os.path.join(folder, "diffwarden.config.json"), "w", encoding="utf-8") as file:
            json.dump({"reviewers": reviewers, "reviewerSets": {"1": ids}}, file)
        return ids

    def review(self, *args):
        """Returns seconds, peak memory in MiB and the frames with their times in nanoseconds."""
        command = [os.path.abspath(self.options.bin), "review", "--ndjson", *args]
        start = time.monotonic()
        child = subprocess.Popen(command, cwd=self.repo, env=self.env, stdout=subprocess.PIPE)
        lines = [(time.time_ns(), line) for line in child.stdout]
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        frames = [(at, json.loads(line)) for at, line in lines]
        if child.returncode != 0 or frames[-1][1]["type"] != "final_result":
            sys.exit(f"{command} ended with {child.returncode}: {frames[-1][1]}")
        return seconds, usage.ru_maxrss / 1024, frames


def latencies(frames):
    """Returns the milliseconds from each stand-in's answer to its frame."""
    found = []
    for at, frame in frames:
        if frame["type"] == "reviewer_result":
            ended = int(frame["artifact"]["result"]["overall_explanation"].split("=")[1])
            found.append((at - ended) / 1e6)
    return sorted(found)


def described(values):
    return (f"median {statistics.median(values):6.2f} ms   p90 {values[len(values) * 9 // 10]:6.2f} ms"
            f"   worst {values[-1]:6.2f} ms")


class Report:
    def __init__(self):
        self.is_over = False

    def line(self, label, text, is_fine=True):
        self.is_over |= not is_fine
        print(f"{label:44} {text}{'' if is_fine else '   OVER THE LIMIT'}", flush=True)


def crowd(world, report):
    world.configure(REVIEWERS)
    sleep = world.options.sleep
    world.script([{"steps": [{"sleep_ms": sleep}, answer("end={NOW}")]}])
    focus = [word for number in range(1, LANES) for word in ("--focus", f"subject {number}")]
    seconds, memory, frames = world.review("--jobs", str(AT_A_TIME), *focus)
    theory = REVIEWERS * LANES / AT_A_TIME * sleep / 1000
    label = f"{REVIEWERS} reviewers x {LANES} lanes, {AT_A_TIME} at a time"
    found = latencies(frames)
    assert len(found) == REVIEWERS * LANES, len(found)
    report.line(label, f"{seconds:6.2f} s   theory {theory:.2f} s   x{seconds / theory:.3f}   "
                f"{memory:.0f} MiB", seconds <= 1.15 * theory)
    report.line("answer to frame, 32 end at once", described(found))


def spread(world, report):
    ids = world.configure(32)
    world.script([{"contains": f"model-{it}",
                   "steps": [{"sleep_ms": 400 + 60 * number}, answer("end={NOW}")]}
                  for number, it in enumerate(ids)])
    _, _, frames = world.review("--jobs", "32")
    found = latencies(frames)
    report.line("answer to frame, one after the other", described(found),
                statistics.median(found) < 5)


def floods(world, report):
    world.configure(1)
    size = 50_000_000
    for label, step in (("short lines", "flood_stdout"), ("one line", "flood_line"),
                        ("standard error", "flood_stderr")):
        world.script([{"steps": [{step: size}, answer("done")]}])
        seconds, memory, _ = world.review()
        report.line(f"50 MB from one engine, {label}", f"{memory:6.0f} MiB   {seconds:5.2f} s",
                    memory * 1024 * 1024 <= 120e6)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="target/release/diffwarden")
    parser.add_argument("--fake", default="target/debug/fake-reviewer")
    parser.add_argument("--sleep", type=int, default=1000, help="how long a stand-in sleeps, in ms")
    options = parser.parse_args()
    report = Report()
    for part in (crowd, spread, floods):
        # Where the system has one, private folders lie in memory, as in a login session.
        memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
        with tempfile.TemporaryDirectory() as top, tempfile.TemporaryDirectory(dir=memory) as runtime:
            part(World(top, runtime if memory else None, options), report)
    sys.exit(1 if report.is_over else 0)


if __name__ == "__main__":
    main()
