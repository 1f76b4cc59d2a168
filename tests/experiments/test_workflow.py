#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests studies under Snakemake: here and on Slurm, resumed, with cells that fail. Skipped where they are not installed."""

import csv
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "tests"))

import cluster
import tap

TEXT = """study: small
command: {command} {grain}
machine:
  gpcs: 1
  sms: [1, 2]
inputs:
  grain: [256, 512]
plots:
  - name: small-time
    x: grain
    y: device_ns
    lines: sms
"""
NO_ENGINE = None if shutil.which("snakemake") and shutil.which("gnuplot") else \
    "there is no Snakemake or gnuplot; 'make study' installs them"


class Study:
    """A small study; its program can be told to fail."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.program = self.folder / "program"
        self.program.write_text(f"#!/bin/sh\necho x >>{folder}/runs\n[ ! -e {folder}/broken ] || [ $1 != 512 ] || "
                                f"{{ echo it is broken >&2; exit 3; }}\nexec {TOP}/build/plain/tools/study-grain nested $1\n")
        self.program.chmod(0o755)
        self.file = self.folder / "small.yaml"
        self.file.write_text(TEXT.replace("{command}", str(self.program)))
        self.out = self.folder / "out"

    def run(self, *options, **settings):
        return subprocess.run(["snakemake", "-s", TOP / "experiments/Snakefile", "--keep-going", "--directory", self.folder, *options,
                               "--config", f"study={self.file}", f"folder={self.out}"], cwd=TOP, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=200, env=os.environ | {"HOME": str(self.folder)} | settings)

    def runs(self):
        path = self.folder / "runs"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def rows(self):
        with open(self.out / "small.csv") as table:
            return list(csv.DictReader(table))


def engine(function):
    def test():
        with tempfile.TemporaryDirectory() as folder:
            function(Study(folder))
    return lambda: None if NO_ENGINE else test()


def resumed(study):
    (study.folder / "broken").touch()
    done = study.run("--cores", "2")
    assert done.returncode != 0 and study.runs() == 4, (study.runs(), done)
    for sms in (1, 2):
        assert f"run a cell of small: gpcs=1 sms={sms} grain=512: exit status 3: it is broken" in done.stderr, done.stderr
    assert not (study.out / "small.csv").exists()
    (study.folder / "broken").unlink()
    done = study.run("--cores", "2")
    assert done.returncode == 0 and study.runs() == 6, ("only what failed runs again", study.runs(), done)
    assert len(study.rows()) == 4 and "<svg" in (study.out / "small-time.svg").read_text()
    done = study.run("--cores", "2")
    assert done.returncode == 0 and study.runs() == 6 and "Nothing to be done" in done.stderr, (study.runs(), done)
    study.program.write_text(study.program.read_text() + "# changed\n")
    done = study.run("--cores", "2")
    assert done.returncode == 0 and study.runs() == 10, ("another program makes other cells", study.runs(), done)
    study.file.write_text(study.file.read_text().replace("[1, 2]", "[1, 2, 4]"))
    done = study.run("--cores", "2")
    assert done.returncode == 0 and study.runs() == 12 and len(study.rows()) == 6, ("only new cells run", study.runs(), done)


def refused(study):
    study.file.write_text(study.file.read_text().replace("[1, 2]", "[1, 0]"))
    done = study.run("--cores", "2")
    assert done.returncode != 0 and study.runs() == 0, done
    assert f"{study.file}:5: there is no machine gpcs=1 sms=0" in done.stderr, done.stderr
    study.file.write_text("study: [")
    done = study.run("--cores", "2")
    assert done.returncode != 0 and f"{study.file}:1: " in done.stderr + done.stdout, done


def on_slurm(study):
    here = study.run("--cores", "2")
    assert here.returncode == 0, here
    rows = study.rows()
    shutil.rmtree(study.out)
    with tempfile.TemporaryDirectory() as folder, cluster.Cluster(folder) as slurm:
        done = study.run("--cluster", f"sbatch --parsable --output={study.folder}/job-%j.out", "--jobs", "4", "--latency-wait", "20",
                         **{name: slurm.environment[name] for name in ("SLURM_CONF", "PATH")})
        said = "".join(path.read_text() for path in study.folder.glob("job-*.out"))
        assert done.returncode == 0, (done, said)
        assert len(list(study.folder.glob("job-*.out"))) == 4, "cells ran as jobs"
    assert study.rows() == rows, "the same bits, wherever a cell runs"


# Does to a pod what Kubernetes would, as far as a job can tell: its command runs in its folder, with its variables.
KUBECTL = """#!/usr/bin/env python3
import json, os, subprocess, sys
options = dict(word.split("=", 1) for word in sys.argv[3:] if "=" in word)
spec = json.loads(options["--overrides"])["spec"]
(one,), (volume,) = spec["containers"], spec["volumes"]
assert sys.argv[1] == "run" and one["name"] == sys.argv[2] and {"--attach", "--rm", "--restart=Never"} <= set(sys.argv), sys.argv
assert one["image"] == options["--image"] == "registry/ppu" and volume["persistentVolumeClaim"]["claimName"] == "claim", spec
assert one["volumeMounts"] == [{"name": volume["name"], "mountPath": TOP}] and spec["securityContext"]["runAsUser"] == os.getuid()
with open(FOLDER + "/pods", "a") as pods:
    print(sys.argv[2], file=pods)
settings = {each["name"]: each["value"] for each in one["env"]}
sys.exit(subprocess.run(one["command"], cwd=one["workingDir"], env={"PATH": os.environ["PATH"]} | settings).returncode)
"""


def in_pods(study):
    kubectl = study.folder / "bin/kubectl"
    kubectl.parent.mkdir()
    kubectl.write_text(KUBECTL.replace("TOP", repr(str(TOP))).replace("FOLDER", repr(str(study.folder))))
    kubectl.chmod(0o755)
    settings = {"PATH": f"{kubectl.parent}:{os.environ['PATH']}", "STUDY_CLAIM": "claim", "STUDY_IMAGE": "registry/ppu"}
    options = ["--cluster-sync", str(TOP / "experiments/pod"), "--jobs", "2"]
    done = study.run(*options, **settings | {"STUDY_CLAIM": ""})
    assert done.returncode != 0 and "run a job on Kubernetes: STUDY_CLAIM is not set" in done.stderr, done
    (study.folder / "broken").touch()
    done = study.run(*options, **settings)
    assert done.returncode != 0 and study.runs() == 4 and "gpcs=1 sms=2 grain=512: exit status 3: it is broken" in done.stderr, done
    (study.folder / "broken").unlink()
    done = study.run(*options, **settings)
    assert done.returncode == 0 and study.runs() == 6 and len(study.rows()) == 4, (study.runs(), done)
    pods = (study.folder / "pods").read_text().split()
    assert len(set(pods)) == len(pods) == 6, pods


if __name__ == "__main__":
    no_cluster = NO_ENGINE or cluster.missing()
    skip = f" # SKIP {NO_ENGINE}" if NO_ENGINE else ""
    tap.main([
        ("a study goes on where it stopped, and repeats alone what failed" + skip, engine(resumed)),
        ("what is wrong with a study is said before a cell runs" + skip, engine(refused)),
        ("the cells of a study run on Slurm, and have the same bits" + (f" # SKIP {no_cluster}" if no_cluster else ""),
         (lambda: None) if no_cluster else engine(on_slurm)),
        ("the cells of a study run in pods, as far as they can tell" + skip, engine(in_pods)),
    ])
