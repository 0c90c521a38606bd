"""What scripts print cannot steer a terminal, and a reader that has gone ends nothing."""

import io
import os
import subprocess
import sys

import pytest

from workflow.config.command_line import Printed

# clears a screen, moves up a line and back, and turns the direction of writing
CLEAR = "\x1b[2J\x9b1A\r\u202e"
SHOWN = r"\x1b[2J\x9b1A\r\u202e"
WAYS = ["print('a')", "print('a', flush=True)", "print('a' * 10**6)", "print_data('a')"]
SCRIPT = "import sys; from workflow.config.command_line import run, print_data, print_lines; "
SCRIPT += "run(lambda: {})"


def ended(script: str, text: bool = True) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", SCRIPT.format(script)]
    return subprocess.run(command, capture_output=True, text=text, timeout=120)


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
    assert SHOWN in printed and printed.replace("\n", "").isprintable() and done.returncode == code


def test_text_from_elsewhere_cannot_begin_a_line():
    assert ended("print_lines(['a\\n0 failed', 'b'])").stdout == "a\\n0 failed\nb\n"


def test_data_reach_a_file_as_they_are():
    assert ended(f"print_data({CLEAR!r})", text=False).stdout == CLEAR.encode()


def test_tabs_and_lines_stay():
    stream = io.StringIO()
    print("a\tb\nc\x07", file=Printed(stream))
    assert stream.getvalue() == "a\tb\nc\\x07\n"


def without_reader(command: list[str]) -> tuple[int, str]:
    """Run a command whose output nobody reads."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, timeout=300)
    os.close(write)
    return done.returncode, done.stderr


@pytest.mark.parametrize("script", WAYS)
def test_a_full_disk_under_what_is_printed_is_one_line_that_names_the_file(script):
    """/dev/full is always full. Where errors go there too, nothing is left but the exit status."""
    command = [sys.executable, "-c", SCRIPT.format(f"({script}, {script})")]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300)
        assert (done.returncode, done.stderr) == (1, "-c: /dev/full: No space left on device\n")
        assert subprocess.run(command, stdout=full, stderr=full, timeout=300).returncode == 1


@pytest.mark.parametrize("script", WAYS)
@pytest.mark.parametrize("end, code", [("", 0), ("sys.exit(3)", 3)])
def test_a_script_that_nobody_reads_ends_as_it_would_have_without_a_word(script, end, code):
    command = [sys.executable, "-c", SCRIPT.format(f"({script}, {end})")]
    assert without_reader(command) == (code, "")


@pytest.mark.parametrize(
    "command", ["estimate --config scale=smoke", "schemas record", "schemas --scale smoke"]
)
def test_commands_may_be_piped_into_head(command):
    assert without_reader([sys.executable, "-m", *f"workflow.cli.{command}".split()]) == (0, "")
