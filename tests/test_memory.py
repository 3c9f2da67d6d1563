"""The memory that is left: the least of machine, control groups and limits of the process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from graphheat.memory import available_memory

GB = 10**9


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with 8 GB left, without groups, and a process without limits."""
    monkeypatch.setattr("graphheat.memory.resource", None)

    def write(path, text):
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    write("proc/meminfo", f"MemTotal: 99999999 kB\nMemAvailable: {8 * GB // 1024} kB\n")
    return write


def left(tmp_path):
    return available_memory(tmp_path) / GB


def test_without_limits_it_is_what_the_machine_has(machine, tmp_path):
    assert left(tmp_path) == pytest.approx(8, abs=1e-5)


def test_a_group_of_version_2_limits_it(machine, tmp_path):
    machine("proc/self/cgroup", "0::/box\n")
    machine("sys/fs/cgroup/box/memory.max", f"{2 * GB}\n")
    machine("sys/fs/cgroup/box/memory.current", f"{GB}\n")
    assert left(tmp_path) == pytest.approx(1)
    machine("sys/fs/cgroup/box/memory.stat", f"anon 7\ninactive_file {GB // 2}\n")
    assert left(tmp_path) == pytest.approx(1.5)  # a cache gives way
    machine("sys/fs/cgroup/box/memory.max", "max\n")
    assert left(tmp_path) == pytest.approx(8, abs=1e-5)


def test_the_group_above_limits_it_too(machine, tmp_path):
    machine("proc/self/cgroup", "0::/pod/box\n")
    for folder, most in (("pod/box", 4), ("pod", 3)):
        machine(f"sys/fs/cgroup/{folder}/memory.max", f"{most * GB}\n")
        machine(f"sys/fs/cgroup/{folder}/memory.current", f"{GB}\n")
    assert left(tmp_path) == pytest.approx(2)


def test_inside_a_container_the_group_is_seen_at_the_root(machine, tmp_path):
    machine("proc/self/cgroup", "0::/../of/the/host\n")
    machine("sys/fs/cgroup/memory.max", f"{GB}\n")
    machine("sys/fs/cgroup/memory.current", "0\n")
    assert left(tmp_path) == pytest.approx(1)


def test_a_group_of_version_1_limits_it(machine, tmp_path):
    machine("proc/self/cgroup", "7:cpu,cpuacct:/box\n5:memory:/box\n0::/\n")
    machine("sys/fs/cgroup/memory/box/memory.limit_in_bytes", f"{3 * GB}\n")
    machine("sys/fs/cgroup/memory/box/memory.usage_in_bytes", f"{GB}\n")
    machine("sys/fs/cgroup/memory/box/memory.stat", f"total_inactive_file {GB // 4}\n")
    machine("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    machine("sys/fs/cgroup/memory/memory.usage_in_bytes", f"{GB}\n")
    assert left(tmp_path) == pytest.approx(2.25)


def test_a_full_group_leaves_nothing(machine, tmp_path):
    machine("proc/self/cgroup", "0::/\n")
    machine("sys/fs/cgroup/memory.max", f"{GB}\n")
    machine("sys/fs/cgroup/memory.current", f"{GB + 1}\n")
    assert available_memory(tmp_path) == 0


LIMITED = """
import resource
from graphheat.memory import available_memory
for limit in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
    before = available_memory()
    resource.setrlimit(limit, (3 * 10**9, resource.RLIM_INFINITY))
    assert 0 < available_memory() < 3 * 10**9, (before, available_memory())
    resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_limits_of_the_process_count():
    subprocess.run([sys.executable, "-c", LIMITED], check=True)
