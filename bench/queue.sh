#!/usr/bin/env bash
# Prints what a queue costs: processor time of 10,000 mock cases through it next to a local run, both with the run log
# and both without, cases per second by number of workers, and the time of a worker that waits.
# Usage: bench/queue.sh [--gate] [BINARY]     (--gate: exit 1 when a figure is over its limit)
set -euo pipefail

cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
gate=
if [ "${1:-}" = --gate ]; then
  gate=1
  shift
fi
binary=${1:-}
if [ -z "$binary" ]; then
  cargo build --quiet --release -p evalrig
  binary=$target/release/evalrig
fi
server=${EVALRIG_NATS_SERVER:-$(scripts/install-nats "$target/nats")}
gate=$gate python3 - "$(realpath "$binary")" "$server" <<'PYTHON'
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

binary, server = sys.argv[1:]
CASES = 10_000
failed = False


def started(command, directory):
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=directory, env=environment, stdin=quiet, stdout=quiet, stderr=quiet)


def used(process):
    """Seconds of processor time of a process that ends."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{process.args} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def used_so_far(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def check(text, is_good):
    global failed
    failed |= not is_good
    print(text + ("" if is_good else "   OVER THE LIMIT"))


with tempfile.TemporaryDirectory() as name:
    directory = pathlib.Path(name)
    project = directory / "project"
    (project / ".git").mkdir(parents=True)
    (project / ".evalrig").mkdir()
    (project / ".evalrig/targets.yaml").write_text("targets: [{name: default, provider: mock, response: Hello}]\n")
    tests = (
        f"  - {{id: t{at}, criteria: x, input: 'Hi {at}', assert: [{{type: contains, value: Hello}}]}}\n"
        for at in range(CASES)
    )
    (project / "EVAL.yaml").write_text("name: load\ntests:\n" + "".join(tests))
    stores = iter(range(100))

    def recorded():
        """Every run has a store of its own: none is slowed down by the history of another."""
        return ["--store", str(directory / f"store-{next(stores)}")]

    local = min(used(started([binary, "run", "--no-record"], project)) for _ in range(3))
    print(f"local run            {local:6.2f} s of processor time")
    local_recorded = min(used(started([binary, "run", *recorded()], project)) for _ in range(2))
    print(f"the same, recorded   {local_recorded:6.2f} s")
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    nats = started([server, "-a", "127.0.0.1", "-p", str(port), "-js", "-sd", str(directory / "nats")], directory)
    url = f"nats://127.0.0.1:{port}"
    time.sleep(1)
    rates = {}
    try:
        for count in (1, 2, 4):
            command = [binary, "worker", "--queue", url, "--cache", str(directory / "cache"), "--workers", "8"]
            workers = [started([*command, "--name", f"w{at}"], directory) for at in range(count)]
            time.sleep(1)
            before = used_so_far(nats)
            begun = time.monotonic()
            coordinator = used(started([binary, "run", "--no-record", "--queue", url], project))
            took = time.monotonic() - begun
            of_server = used_so_far(nats) - before
            rates[count] = CASES / took
            if count == 4:
                of_idle = [used_so_far(worker) for worker in workers]
                coordinator_recorded = used(started([binary, "run", *recorded(), "--queue", url], project))
                of_recorded = sum(used_so_far(worker) for worker in workers) - sum(of_idle)
                time.sleep(3)
                idle = [used_so_far(worker) for worker in workers]
                time.sleep(10)
                idle = max(used_so_far(worker) - one for worker, one in zip(workers, idle)) / 10
            for worker in workers:
                worker.send_signal(signal.SIGTERM)
            of_workers = sum(used(worker) for worker in workers)
            if count == 4:
                of_workers -= of_recorded
            total = coordinator + of_workers
            print(
                f"{count} workers            {total:6.2f} s ({coordinator:.2f} coordinator, {of_workers:.2f} workers; "
                f"server {of_server:.2f}), {rates[count]:.0f} cases/s"
            )
            if count == 4:
                print(f"through a queue      {total / local:6.2f} times a local run")
                total = coordinator_recorded + of_recorded
                text = f"the same, recorded   {total / local_recorded:6.2f} times a local run that is recorded (limit 3)"
                check(text, total <= 3 * local_recorded)
    finally:
        nats.kill()
        nats.wait()
    cores = os.cpu_count()
    up_to_cores = [rates[count] for count in rates if count <= cores]
    check(
        f"more workers         {up_to_cores[-1] / up_to_cores[0]:6.2f} times as fast with {len(up_to_cores)} sizes up to {cores} cores",
        all(later >= 0.95 * earlier for earlier, later in zip(up_to_cores, up_to_cores[1:])),
    )
    check(f"idle worker          {idle * 100:6.2f} % of a core (limit 1)", idle < 0.01)
sys.exit(1 if failed and os.environ.get("gate") else 0)
PYTHON
