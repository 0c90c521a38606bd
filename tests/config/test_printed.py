"""What scripts print cannot steer a terminal, and a reader that has gone ends nothing."""

import os
import subprocess
import sys

import pytest

# clears a screen, moves up a line and back, and turns the direction of writing
CLEAR = "\x1b[2J\x9b1A\r\u202e"
SHOWN = r"\x1b[2J\x9b1A\r\u202e"
WAYS = ["print('a')", "print_data('a')"]
IMPORT = "from workflow.config.command_line import run, print_data, print_lines"


def command(script: str) -> list[str]:
    return [sys.executable, "-c", f"import sys; {IMPORT}; run(lambda: {script})"]


def ended(script: str, text: bool = True, **streams) -> subprocess.CompletedProcess:
    streams = streams or {"stdout": subprocess.PIPE}
    words = command(script)
    return subprocess.run(words, stderr=subprocess.PIPE, text=text, timeout=120, **streams)


@pytest.mark.parametrize(
    "script, code",
    [
        (f"print({CLEAR!r})", 0),
        (f"sys.exit({CLEAR!r})", 1),
        (f"exec('raise ValueError({CLEAR!r})')", 1),
    ],
)
def test_whatever_is_printed_is_shown_and_not_sent(script, code):
    done = ended(script)
    printed = done.stdout + done.stderr
    assert done.returncode == code
    assert SHOWN in printed
    assert printed.replace("\n", "").isprintable()


def test_printed_text_cannot_begin_a_line_and_data_reach_a_file_as_they_are():
    assert ended("print_lines(['a\\n0 failed', 'b'])").stdout == "a\\n0 failed\nb\n"
    assert ended(f"print_data({CLEAR!r})", text=False).stdout == CLEAR.encode()


@pytest.mark.parametrize("script", WAYS)
def test_a_full_disk_under_what_is_printed_is_one_line_that_names_the_file(script):
    with open("/dev/full", "w") as full:
        done = ended(f"({script}, {script})", stdout=full)
    assert (done.returncode, done.stderr) == (1, "-c: /dev/full: No space left on device\n")


@pytest.mark.parametrize("script", WAYS)
@pytest.mark.parametrize("end, code", [("", 0), ("sys.exit(3)", 3)])
def test_a_script_that_nobody_reads_ends_as_it_would_have_without_a_word(script, end, code):
    read, write = os.pipe()
    os.close(read)
    done = ended(f"({script}, {end})", stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (code, "")
