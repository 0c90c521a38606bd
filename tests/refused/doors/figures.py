"""Figures and tables of others, as `trace` reads them."""

import io
import json

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from tests.refused._kind import Kind

TRACE = {"origin": "a", "runs": [], "commits": [], "data": ""}
BOMB = '<!DOCTYPE a [<!ENTITY a0 "ha">' + "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(12))
BOMB += ']><svg xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:source>&a12;</dc:source></svg>'
FILES = '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
FILES += '<svg xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:source>&a;</dc:source></svg>'


def svg(source: str) -> str:
    return f'<svg xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:source>{source}</dc:source></svg>'


def png(source: str) -> bytes:
    file, about = io.BytesIO(), PngInfo()
    about.add_text("Source", source, zip=True)
    Image.new("1", (1, 1)).save(file, "PNG", pnginfo=about)
    return file.getvalue()


def kind(name: str, says: str, content: object) -> Kind:
    return Kind(f"cli.trace {name}", says, {name: content})


KINDS = {
    "not there": Kind("cli.trace a.svg", "a.svg: no such file"),
    "of another form": kind("a.txt", "expected a figure or table of this suite: .svg, .pdf, .png, .json", "x"),
    "a folder": Kind("cli.trace a.svg", "a.svg: no such file", {"a.svg/b": ""}),
    "an svg of others": kind("a.svg", "names no runs; only files made by this suite do", "<svg/>"),
    "an svg cut off": kind("a.svg", "cannot be read", svg(json.dumps(TRACE))[:-9]),
    "an svg of a list": kind("a.svg", "names no runs", svg("[]")),
    "an svg of words": kind("a.svg", "cannot be read", svg("words")),
    "an svg with an unknown key": kind(
        "a.svg", "unknown key 'run': did you mean 'runs'?", svg(json.dumps({"run": []}))
    ),
    "an svg that swells": kind("a.svg", "cannot be read", BOMB),
    "an svg that asks for files": kind("a.svg", "cannot be read", FILES),
    "a pdf that is none": kind("a.pdf", "cannot be read", b"%PDF-1.4 and no more"),
    "a png that is none": kind("a.png", "cannot be read", b"\x89PNG and no more"),
    "a png of others": kind("a.png", "names no runs", png("null")),
    "a png whose text swells": kind("a.png", "cannot be read", png("a" * (80 << 20))),
    "a table cut off": kind("a.json", "cannot be read", "{"),
    "a table of others": kind("a.json", "names no runs", {"rows": []}),
    "a table of words": kind("a.json", "cannot be read", {"cells": ["x"]}),
    "a table of nothing": kind("a.json", "cannot be read", {"cells": [{}]}),
}
