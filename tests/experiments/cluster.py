# SPDX-License-Identifier: MIT
"""Starts Slurm with one node, this machine, from files in a folder of its own; it needs root."""

import os
import secrets
import shutil
import socket
import subprocess
import time
from pathlib import Path

SECONDS = 40
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "sinfo")
CONF = """ClusterName=study
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CryptoType=crypto/munge
SlurmctldPort={ctld}
SlurmdPort={d}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Why there can be no cluster here, or None."""
    absent = [name for name in PROGRAMS if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")]
    if absent:
        return f"there is no {absent[0]}; 'make study' installs it"
    return None if os.geteuid() == 0 else "it needs root"


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Cluster:
    """As a context: runs until its end."""

    def __init__(self, folder):
        self.folder, self.processes = Path(folder), []
        self.environment = os.environ | {"SLURM_CONF": str(self.folder / "slurm.conf"),
                                         "PATH": os.environ["PATH"] + ":/usr/sbin"}

    def start(self, *command):
        log = open(self.folder / f"{Path(command[0]).name}.out", "w")
        self.processes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                               env=self.environment))

    def wait_for(self, what, ready):
        deadline = time.monotonic() + SECONDS
        while not ready():
            if time.monotonic() > deadline:
                said = "".join(path.read_text()[-1500:] for path in sorted(self.folder.glob("*.out")) + sorted(self.folder.glob("*.log")))
                raise RuntimeError(f"{what}: not within {SECONDS} s\n{said}")
            time.sleep(0.2)

    def is_idle(self):
        done = subprocess.run(["sinfo", "-h", "-o", "%T"], env=self.environment, capture_output=True, text=True)
        return done.stdout.strip() in ("idle", "mixed", "allocated")

    def __enter__(self):
        try:
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def begin(self):
        munge, host = self.folder / "munge", socket.gethostname().split(".")[0]
        self.folder.chmod(0o755)  # munge refuses what others could change
        for name in ("munge", "state", "spool"):
            (self.folder / name).mkdir(mode=0o755)
        (munge / "key").write_bytes(secrets.token_bytes(64))
        (munge / "key").chmod(0o600)
        ctld, d = free_ports(2)
        (self.folder / "slurm.conf").write_text(CONF.format(folder=self.folder, host=host, ctld=ctld, d=d,
                                                            cpus=os.cpu_count()))
        self.start("munged", "--foreground", "--force", f"--socket={munge}/socket", f"--key-file={munge}/key",
                   f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        self.wait_for("start munged", (munge / "socket").exists)
        self.start("slurmctld", "-D", "-i")
        self.start("slurmd", "-D", "-N", host)
        self.wait_for("start Slurm", self.is_idle)

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
        for process in reversed(self.processes):
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
