"""Fetching a corpus: mirrors in turn, broken transfers made again, nothing else kept."""

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from tests.tasks._texts import catalogue, entry, zipped
from workflow.config.errors import ConfigError
from workflow.tasks import downloads
from workflow.tasks.char_lm import data

TEXT = b"".join(b"line %d of some text\n" % i for i in range(20_000))


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """Serve on this machine what is in `served`; the first `breaks` answers stop half way."""
    monkeypatch.setattr(downloads, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # pooch waits between attempts
    state = SimpleNamespace(served={}, breaks=0, requests=0)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            state.requests += 1
            content = state.served.get(self.path.strip("/"))
            if content is None:
                return self.send_error(404)
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if state.breaks:
                state.breaks -= 1
                content = content[:1000]
            self.wfile.write(content)

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        serve = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        serve.start()
        state.address = f"http://127.0.0.1:{server.server_port}"
        yield state
        server.shutdown()


def fetch(mirror, *names) -> bytes:
    urls = [f"{mirror.address}/{name}" for name in names]
    return data.read_file(catalogue(TEXT, urls=urls), "text", None)


def cached_files(tmp_path) -> list[str]:
    paths = (tmp_path / "cache").iterdir()
    return [path.name for path in paths if path.suffix != ".lock"]


@pytest.mark.parametrize(
    "name, pack", [("text.txt", bytes), ("text.gz", gzip.compress), ("text.zip", zipped)]
)
def test_a_corpus_is_fetched_once_and_unpacked(name, pack, mirror, tmp_path):
    mirror.served[name] = pack(TEXT)
    assert fetch(mirror, name) == fetch(mirror, name) == TEXT
    assert mirror.requests == 1
    (tmp_path / "cache" / f"text-{name}").write_bytes(b"damaged")
    assert fetch(mirror, name) == TEXT
    assert mirror.requests == 2


@pytest.mark.parametrize("breaks", [1, 1 + downloads.RETRIES])
def test_a_broken_transfer_is_made_again_then_from_the_next_mirror(breaks, mirror, tmp_path):
    mirror.served |= {"a/text.txt": TEXT, "b/text.txt": TEXT}
    mirror.breaks = breaks
    assert fetch(mirror, "a/text.txt", "b/text.txt") == TEXT
    assert mirror.requests == breaks + 1
    assert cached_files(tmp_path) == ["text-text.txt"]


def test_another_corpus_is_refused_in_one_line_and_not_kept(mirror, tmp_path):
    mirror.served["text.txt"] = b"another text"
    with pytest.raises(ConfigError) as error:
        fetch(mirror, "text.txt", "missing")
    line = str(error.value)
    assert "\n" not in line
    assert entry(TEXT).checksum in line
    assert "12 bytes" in line
    assert "404" in line
    assert cached_files(tmp_path) == []
