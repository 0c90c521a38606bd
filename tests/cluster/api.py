"""What Kubernetes would be asked for: a server that takes each request of Snakemake's plugin down, and fails each job.

    python -m tests.cluster.api snakemake --workflow-profile profiles/kubernetes --config scale=smoke device=cpu \\
        --default-storage-prefix /tmp/store -- adaptive_span_table3

prints the jobs that would be sent, as YAML. No cluster is reached.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import yaml

KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "none",
    "contexts": [{"name": "none", "context": {"cluster": "none", "user": "none"}}],
    "users": [{"name": "none", "user": {}}],
}


class Api(BaseHTTPRequestHandler):
    """Answers as the API would of jobs that fail at once."""

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/jobs"):
            self.server.jobs.append(sent)
        self.answer(sent)

    def do_GET(self) -> None:
        pods = {"kind": "PodList", "items": []}
        self.answer(pods if "/pods" in self.path else {"kind": "Job", "metadata": {}, "status": {"failed": 1}})

    def do_DELETE(self) -> None:
        self.answer({"kind": "Status", "status": "Success"})

    def answer(self, content: dict) -> None:
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words) -> None:
        pass


@contextmanager
def no_cluster(folder: Path) -> Iterator[tuple[dict[str, str], list[dict]]]:
    """The environment in which the plugin finds the server, and the jobs that it has sent."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Api) as server:
        server.jobs = []
        Thread(target=server.serve_forever, daemon=True).start()
        cluster = {"name": "none", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}
        (folder / "kubeconfig").write_text(yaml.safe_dump(KUBECONFIG | {"clusters": [cluster]}))
        yield {**os.environ, "KUBECONFIG": str(folder / "kubeconfig")}, server.jobs
        server.shutdown()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, no_cluster(Path(folder)) as (environment, jobs):
        subprocess.run(sys.argv[1:], env=environment, stdout=subprocess.DEVNULL)
    print(yaml.safe_dump_all(jobs))


if __name__ == "__main__":
    main()
