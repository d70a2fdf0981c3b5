#!/usr/bin/env python3
"""Measure how many one-line faults the suite finds.

    python3 tests/mutants.py SEED COUNT [--only PREFIX]

Draws COUNT faults by SEED in core, nn and backends/cpu (or the files under PREFIX): a changed
comparison, constant, sign or condition, a removed statement, swapped arguments. Each fault is
compiled in a worktree of HEAD, and the files of the suite run until one fails (killed) or all pass
(survived); the files that are likely to find it run first. Faults that do not compile are replaced
by others. Results are appended to build/mutants/results.tsv; a run that was stopped continues
there. About one minute per killed fault and four per survivor on two cores.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutants"
TREE = WORK / "tree"
BUILD = TREE / "build" / "release"
RESULTS = WORK / "results.tsv"
TIMEOUT_S = 180  # the slowest file of the suite runs for about 20 s
MEMORY_BYTES = 12 << 30

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
FAULTS = {
    "comparison": (re.compile(r"(?<= )(<|<=|>|>=|==|!=)(?= )"), lambda m: COMPARISONS[m[0]]),
    "constant": (re.compile(r"(?<![\w.'])\d+(?![\w.'])"), lambda m: str(int(m[0]) + 1)),
    "sign": (re.compile(r"(?<= )[-+](?= )"), lambda m: "-" if m[0] == "+" else "+"),
    "condition": (re.compile(r"&&|\|\||(?<=[( ])!(?=\w)|\btrue\b|\bfalse\b"),
                  lambda m: {"&&": "||", "||": "&&", "!": "", "true": "false", "false": "true"}[m[0]]),
    "removed": (re.compile(r"^ +(?!return\b|delete\b|using\b)[A-Za-z_][\w.:>\-\[\]]*(\(.*\)| [-+*/|&]?= .*);$"),
                lambda m: re.match(" +", m[0])[0] + ";"),
    "swapped": (re.compile(r"\((\w+), (\w+)\)(?! [{c])"),
                lambda m: f"({m[2]}, {m[1]})" if m[1] != m[2] else None),
}


def sites(prefix):
    """Return all lines that a fault can change, by kind: (file, line number, changed line)."""
    found = {kind: [] for kind in FAULTS}
    for folder in ("core", "nn", "backends/cpu"):
        for path in sorted((TREE / folder).rglob("*.cpp")):
            name = str(path.relative_to(TREE))
            # Tests of these libraries, which are opened late, are not in the suite.
            if re.match(r"core/(check|examples|shadow)/", name) or not name.startswith(prefix):
                continue
            for number, line in enumerate(path.read_text().split("\n"), 1):
                code = line.split("  // ")[0]
                if re.match(r"\s*(//|#|template|static_assert|using|case)", code) or '"' in code:
                    continue
                for kind, (pattern, change) in FAULTS.items():
                    for match in pattern.finditer(code):
                        changed = change(match)
                        if changed is not None:
                            line_after = line[:match.start()] + changed + line[match.end():]
                            found[kind].append((name, number, line_after))
    return found


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def build():
    return run(["ninja", "-C", str(BUILD), f"-j{os.cpu_count()}", "ambit_tests"])


def passes(test):
    """Whether a file of the suite passes."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    try:
        command = [str(BUILD / "bin" / "ambit_tests"), f"--source-file=*/{test}.cpp", "--no-intro"]
        return run(command, cwd=WORK, timeout=TIMEOUT_S, preexec_fn=limit).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def first_failure(tests):
    """The first file of the suite that fails, or None."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        waiting = list(tests)
        running = {}
        while waiting or running:
            while waiting and len(running) < os.cpu_count():
                test = waiting.pop(0)
                running[pool.submit(passes, test)] = test
            done, _ = concurrent.futures.wait(
                running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                test = running.pop(future)
                if not future.result():
                    return test
    return None


def prepare():
    """Build the suite of HEAD, and measure each of its files once."""
    head = run(["git", "-C", str(ROOT), "rev-parse", "HEAD"]).stdout.strip()
    if not TREE.exists():
        WORK.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "-C", str(ROOT), "worktree", "add", "-q", "--detach", str(TREE)],
                       check=True)
    subprocess.run(["git", "-C", str(TREE), "checkout", "-qf", "--detach", head], check=True)
    werror = os.environ.get("AMBIT_WERROR", "OFF")  # ON shares objects with CI's in ccache
    run(["cmake", "--preset", "release", "-DAMBIT_BUILD_TESTS=ON", "-DAMBIT_CUDA=OFF",
         f"-DAMBIT_WERROR={werror}"], cwd=TREE)
    built = build()
    if built.returncode:
        sys.exit(built.stdout[-2000:])
    times = WORK / f"times_{head[:12]}.json"
    if not times.exists():
        seconds = {}
        folders = re.search(r"set\(folders\n([^)]*)\)", (TREE / "tests/CMakeLists.txt").read_text())[1]
        for folder in folders.split():
            for path in sorted((TREE / "tests" / folder).glob("*_test.cpp")):
                start = time.monotonic()
                if not passes(path.stem):
                    sys.exit(f"mutants.py: {path.stem} fails without a fault")
                seconds[path.stem] = time.monotonic() - start
        times.write_text(json.dumps(seconds))
    return json.loads(times.read_text())


def in_order(name, seconds, killers):
    """Files of the suite, the likely ones first, then the quick ones."""
    words = set(re.split(r"[/_.]", name)) - {"core", "nn", "backends", "cpu", "ops", "cpp"}
    folder = name.rsplit("/", 1)[0]

    def key(test):
        likely = len(words & set(test.split("_"))) + 2 * killers.count((folder, test))
        return (-likely, seconds[test])
    return sorted(seconds, key=key)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    seconds = prepare()
    places = sites(arguments.only)
    kinds = [kind for kind in places if places[kind]]
    rows = [line.split("\t") for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    killers = [(row[3].rsplit("/", 1)[0], row[6]) for row in rows if row[2] == "killed"]
    done = {row[1] for row in rows if row[0] == str(arguments.seed)}
    counts = {"killed": 0, "survived": 0}
    draw = random.Random(arguments.seed)
    number = 0
    while sum(counts.values()) < arguments.count:
        kind = draw.choice(kinds)
        name, line_number, changed = draw.choice(places[kind])
        number += 1
        if str(number) in done:
            verdict = next(row[2] for row in rows
                           if row[0] == str(arguments.seed) and row[1] == str(number))
            if verdict in counts:
                counts[verdict] += 1
            continue
        start = time.monotonic()
        path = TREE / name
        original = path.read_text()
        lines = original.split("\n")
        before = lines[line_number - 1].strip()
        lines[line_number - 1] = changed
        path.write_text("\n".join(lines))
        try:
            if build().returncode:
                verdict, test = "invalid", ""
            else:
                test = first_failure(in_order(name, seconds, killers))
                verdict = "killed" if test else "survived"
        finally:
            path.write_text(original)
        if verdict in counts:
            counts[verdict] += 1
        if verdict == "killed":
            killers.append((name.rsplit("/", 1)[0], test))
        row = [str(arguments.seed), str(number), verdict, name, str(line_number), kind, test or "",
               before, changed.strip(), f"{time.monotonic() - start:.0f}"]
        with RESULTS.open("a") as results:
            results.write("\t".join(row) + "\n")
        if verdict != "invalid":
            print(f"{verdict} {name}:{line_number} {test or ''}\n  {before}\n  {changed.strip()}",
                  flush=True)
    build()
    total = sum(counts.values())
    print(f"seed {arguments.seed}: {counts['killed']} of {total} killed, {counts['survived']} survived")


if __name__ == "__main__":
    main()
