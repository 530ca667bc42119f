#!/usr/bin/env python3
"""Times whole runs of diffwarden against plain git on the same change.

    cargo build --release && python3 benches/whole_runs.py [--bin target/release/diffwarden] [--runs N]

Prints one line per case: the median of git, of diffwarden, their difference and ratio, and the
peak memory of diffwarden. Runs alternate, so that a busy machine disturbs both alike. Nothing is
asserted: numbers depend on the machine. Needs Python 3 and git.
"""
import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ENV = {
    "PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.com",
}


def git(repo, *args):
    subprocess.run(["git", *args], cwd=repo, env=ENV, check=True, stdout=subprocess.DEVNULL)


def write(repo, name, text):
    path = os.path.join(repo, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def body(seed, lines):
    return "".join(f"let value_{n} = compute({seed}, {n}); // step {n}\n" for n in range(lines))


def repository(top, name, files, lines):
    repo = os.path.join(top, name)
    os.makedirs(repo)
    git(repo, "init", "-q", "-b", "main")
    for n in range(files):
        write(repo, f"src/dir{n % 40}/file{n}.rs", body(n, lines))
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "base")
    return repo


def small(top):
    repo = repository(top, "small", 50, 40)
    for n in range(3):
        write(repo, f"src/dir{n}/file{n}.rs", body(n + 7, 40))
    return repo


def fifty(top):
    repo = repository(top, "fifty", 400, 60)
    for n in range(50):
        write(repo, f"src/dir{n % 40}/file{n}.rs", body(n, 25) + body(n + 1, 30) + body(n, 5))
    return repo


def many_changed(top):
    repo = repository(top, "changed", 2500, 60)
    for n in range(2000):
        write(repo, f"src/dir{n % 40}/file{n}.rs", body(n, 25) + body(n + 1, 30) + body(n, 5))
    return repo


def many_untracked(top):
    repo = repository(top, "untracked", 10, 20)
    for n in range(2000):
        write(repo, f"new/dir{n % 40}/file{n}.txt", body(n, 20))
    return repo


def run(command, repo, home):
    """Returns seconds and peak memory in MiB."""
    env = {**ENV, "HOME": home, "TMPDIR": home}
    start = time.perf_counter()
    child = subprocess.Popen(command, cwd=repo, env=env, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        sys.exit(f"{command} ended with {child.returncode}")
    return seconds, usage.ru_maxrss / 1024


def compare(label, base, command, repo, home, runs):
    ours, theirs, memory = [], [], 0.0
    for _ in range(runs):
        theirs.append(run(base, repo, home)[0])
        seconds, peak = run(command, repo, home)
        ours.append(seconds)
        memory = max(memory, peak)
    one, other = statistics.median(ours) * 1000, statistics.median(theirs) * 1000
    print(f"{label:34} base {other:8.1f} ms   diffwarden {one:8.1f} ms   "
          f"+{one - other:7.1f} ms   x{one / other:5.2f}   {memory:6.0f} MiB")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="target/release/diffwarden")
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    binary = os.path.abspath(options.bin)
    # Started by this big process, a child's memory reading begins at its parent's size: keep it low.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as top:
        home = os.path.join(top, "home")
        os.mkdir(home)
        diff = ["git", "diff", "HEAD"]
        listing = ["git", "ls-files", "--others", "--exclude-standard"]
        compare("--version against true", ["true"], [binary, "--version"], top, home, options.runs * 2)
        for name, make, base in (("small, 3 of 50 changed", small, diff),
                                 ("50 of 400 changed", fifty, diff),
                                 ("2,000 of 2,500 changed", many_changed, diff),
                                 ("2,000 untracked", many_untracked, listing)):
            repo = make(top)
            for reviewer in ("fake", "surface"):
                review = [binary, "review", "--reviewer", reviewer, "--json"]
                compare(f"{name}, {reviewer}", base, review, repo, home, options.runs)


if __name__ == "__main__":
    main()
