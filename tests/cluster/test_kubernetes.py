"""What would be sent to Kubernetes: the requests of Snakemake's plugin, to a server of ours."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests._copied import copied

PLUGINS = ("snakemake_executor_plugin_kubernetes", "snakemake_storage_plugin_fs")
ABSENT = not all(map(importlib.util.find_spec, PLUGINS))
NO_RSYNC = shutil.which("rsync") is None
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(ABSENT, reason="the extra `kubernetes` is not installed"),
    pytest.mark.skipif(NO_RSYNC, reason="rsync, which the storage plugin calls, is not installed"),
]
KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: none
contexts: [{name: none, context: {cluster: none, user: none}}]
users: [{name: none, user: {}}]
clusters: [{name: none, cluster: {server: "http://127.0.0.1:%s"}}]
"""
COMMAND = [sys.executable, "-m", "snakemake", "--workflow-profile", "profiles/kubernetes"]
COMMAND += ["--config", "scale=smoke", "device=cuda", "--retries", "0"]
COMMAND += ["--seconds-between-status-checks", "1"]


class Api(BaseHTTPRequestHandler):
    """Answers as the API would of jobs that fail at once."""

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/jobs"):
            self.server.jobs.append(sent)
        self.answer(sent)

    def do_GET(self) -> None:
        if "/pods" in self.path:
            self.answer({"kind": "PodList", "items": []})
        else:
            self.answer({"kind": "Job", "metadata": {}, "status": {"failed": 1}})

    def do_DELETE(self) -> None:
        self.answer({"kind": "Status", "status": "Success"})

    def answer(self, content: dict) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())

    def log_message(self, *words) -> None:
        pass


@contextmanager
def no_cluster(folder: Path) -> Iterator[tuple[dict[str, str], list[dict]]]:
    """Give the environment in which the plugin finds the server, and the jobs that it has sent."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Api) as server:
        server.jobs = []
        Thread(target=server.serve_forever, daemon=True).start()
        (folder / "kubeconfig").write_text(KUBECONFIG % server.server_port)
        yield {**os.environ, "KUBECONFIG": str(folder / "kubeconfig")}, server.jobs
        server.shutdown()


@pytest.fixture(scope="module")
def sent(tmp_path_factory):
    """Send the jobs of three trainings on a GPU; their corpus is in the store."""
    folder = copied(tmp_path_factory.mktemp("suite"))
    store = tmp_path_factory.mktemp("store")
    (store / "results" / "data").mkdir(parents=True)
    (store / "results" / "data" / "words.npz").touch()
    command = [*COMMAND, "--default-storage-prefix", str(store), "--", "adaptive_span_table3"]
    with no_cluster(tmp_path_factory.mktemp("config")) as (environment, jobs):
        options = {"capture_output": True, "text": True, "timeout": 300}
        said = subprocess.run(command, cwd=folder, env=environment, **options)
    specs = [job["spec"]["template"]["spec"] for job in jobs]
    trainings = [spec for spec in specs if "train:digest=" in spec["containers"][0]["args"][1]]
    assert len(trainings) == 3, said.stderr[-3000:]
    assert len(list(store.glob("results/runs/*/job.json"))) > 30
    return trainings


def test_each_run_is_a_job_with_its_own_command_limits_and_the_volume_that_all_share(sent):
    containers = [spec["containers"][0] for spec in sent]
    commands = {each["args"][1] for each in containers}
    assert len(commands) == 3
    assert all("--default-storage-provider 'fs'" in command for command in commands)
    resources = containers[0]["resources"]
    assert resources["limits"]["nvidia.com/gpu"] == resources["requests"]["nvidia.com/gpu"] == "1"
    assert (resources["limits"]["memory"], resources["limits"]["cpu"]) == ("8000M", "1000m")
    assert sent[0]["tolerations"][0]["key"] == "nvidia.com/gpu"
    mounts = {mount["name"]: mount["mountPath"] for mount in containers[0]["volumeMounts"]}
    assert mounts["attention-store"] == "/store"
    volumes = [volume.get("persistentVolumeClaim") for volume in sent[0]["volumes"]]
    assert {"claimName": "attention-store"}.items() <= next(filter(None, volumes)).items()
