"""A text of the user's own, `file:PATH`."""

import gzip

from tests.refused._kind import Kind

KINDS = {
    "not there": Kind("scripts.corpus file:none.txt out.npz", "corpus 'file:none.txt': no such file"),
    "no path": Kind("scripts.corpus file: out.npz", "corpus 'file:': no such file"),
    "a folder": Kind("scripts.corpus file:a out.npz", "corpus 'file:a': no such file", {"a/b.txt": "x"}),
    "a device": Kind("scripts.corpus file:/dev/zero out.npz", "corpus 'file:/dev/zero': no such file"),
    "of a name too long": Kind(f"scripts.corpus file:{'a' * 300} out.npz", "File name too long"),
    "empty": Kind("scripts.corpus file:a.txt out.npz", "the file is empty", {"a.txt": ""}),
    "too short": Kind("scripts.corpus file:a.txt out.npz", "bytes are too few to split", {"a.txt": "ab"}),
    "packed": Kind(
        "scripts.corpus file:a.txt out.npz", "is an archive; unpack it first", {"a.txt": gzip.compress(b"a")}
    ),
    "an unknown home": Kind("scripts.corpus file:~nobody-here/a out.npz", "~nobody-here/a: no such home folder"),
    "written to a file": Kind("scripts.corpus words a/out.npz", "a: File exists", {"a": "x"}),
    "another than the catalogue's": Kind(
        "scripts.corpus enwik8-4mb out.npz --data-dir .", "delete or replace the file", {"enwik8-4mb": "x" * 40}
    ),
    "truncated": Kind(
        "scripts.corpus enwik8 out.npz --data-dir .",
        "truncated or corrupted",
        {"enwik8.gz": gzip.compress(b"a" * 999)[:9]},
    ),
    "no data_dir": Kind("scripts.corpus enwik8 out.npz --data-dir none", "data_dir 'none': no such folder"),
}
