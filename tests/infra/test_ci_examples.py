#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the examples for CI services: they are what the services read, and their commands test a project on a PPU."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

TOP = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "tests"))

import tap

CI = TOP / "examples/ci"


def github():
    """(steps that fetch and build, the step that tests)"""
    whole = yaml.safe_load((CI / "github.yml").read_text())
    assert set(whole) == {"name", True, "env", "jobs"}, whole  # YAML 1.1 reads the key `on` as a truth
    (job,) = whole["jobs"].values()
    assert job["container"] == "debian:12" and job["runs-on"], job
    for step in job["steps"]:
        assert ("run" in step) != ("uses" in step), step
        assert re.fullmatch(r"actions/[a-z-]+@v\d+", step.get("uses", "actions/x@v1")), step
    runs = [step["run"] for step in job["steps"] if "run" in step]
    return runs[:-1], runs[-1]


def gitlab():
    whole = yaml.safe_load((CI / "gitlab.yml").read_text())
    jobs = [value for key, value in whole.items() if key != "variables"]
    assert len(jobs) == 1 and jobs[0]["image"] == "debian:12", whole
    for part in ("before_script", "script"):
        assert jobs[0][part] and all(isinstance(line, str) for line in jobs[0][part]), jobs
    return jobs[0]["before_script"], "\n".join(jobs[0]["script"])


def run_in_project(script):
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch) / "project"
        shutil.copytree(CI / "project", project)
        settings = {name: value for name, value in os.environ.items() if name not in ("OCL_ICD_VENDORS", "MAKEFLAGS", "MAKELEVEL")}
        return subprocess.run(["bash", "-e", "-c", script], cwd=project, capture_output=True, text=True, timeout=100,
                              env=settings | {"PPU": str(TOP), "PPU_CACHE": scratch})


def check(read):
    fetching, testing = read()
    text = "\n".join(fetching)
    packages = re.search(r"apt-get install -y --no-install-recommends (.*)", text)[1].split()
    assert {"git", "make"} <= set(packages), packages
    assert 'git clone --depth 1 "$PPU_SOURCE" "$PPU"' in text, text
    (target,) = re.findall(r'make -C "\$PPU" (\S+)', text)
    assert re.search(rf"^{target}: .* ## ", (TOP / "Makefile").read_text(), re.MULTILINE), target
    done = run_in_project(testing)
    assert done.returncode == 0 and done.stdout.endswith("ok add\nok scale\nok reverse\n"), done


def failing_project():
    """The job fails when a test of the project does."""
    _, testing = github()
    done = run_in_project("sed -i 's/return a.i. + b.i.;/return a[i];/' vectors.c\n" + testing)
    assert done.returncode != 0 and "FAILED add" in done.stdout, done


if __name__ == "__main__":
    tap.main([
        ("the example for GitHub Actions tests a project on a PPU", lambda: check(github)),
        ("the example for GitLab tests a project on a PPU", lambda: check(gitlab)),
        ("a job whose project is wrong fails", failing_project),
    ])
