"""A download that is cut off, or brings something else: one line, and nothing kept of it."""

import hashlib
import http.server
import threading
from pathlib import Path

import pytest
import yaml

from tests._copied import ROOT
from tests.failures._real import line_of, run

pytestmark = pytest.mark.slow
TEXT = b"".join(b"line %d of some text\n" % number for number in range(20_000))
SERVED = {
    "truncated": (TEXT[: len(TEXT) // 2], len(TEXT)),
    "corrupted": (TEXT[:5000] + b"X" + TEXT[5001:], len(TEXT)),
    "empty": (b"", 0),
}


@pytest.fixture
def address():
    """Of a server that answers /truncated with half of what it announces."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            content, announced = SERVED[self.path.strip("/")]
            self.send_response(200)
            self.send_header("Content-Length", str(announced))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *words):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def prepared(folder: Path, url: str) -> None:
    """A folder whose configuration names one text more."""
    raw = yaml.safe_load((ROOT / "config" / "tasks" / "char_lm.yaml").read_text())
    about = {"kind": "file", "title": "a text", "about": "a text", "unit": "byte", "bytes": len(TEXT)}
    checksum = f"sha256:{hashlib.sha256(TEXT).hexdigest()}"
    raw["corpora"]["fetched"] = {**about, "checksum": checksum, "files": ["fetched.txt"], "urls": [url]}
    (folder / "config" / "tasks").mkdir(parents=True)
    (folder / "config" / "tasks" / "char_lm.yaml").write_text(yaml.safe_dump(raw))


@pytest.mark.parametrize("kind", SERVED)
def test_it_is_refused(kind, address, tmp_path):
    prepared(tmp_path, f"{address}/{kind}")
    variables = {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path / "cache"), "no_proxy": "127.0.0.1"}
    line = line_of(run("workflow.scripts.corpus", "fetched", "fetched.npz", at=tmp_path, **variables), 2)
    assert "data set 'fetched'" in line and f"{address}/{kind}" in line
    assert not (tmp_path / "fetched.npz").exists()
    kept = [path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert all(name.endswith(".part") for name in kept), kept  # what a broken transfer brought, to go on from
