"""How captions are scored: BLEU-1 to 4, ROUGE-L and CIDEr by pycocoevalcap, METEOR by what the job
says.

Words are compared as they are in the dataset: without punctuation (Karpathy's tokens), which is
what coco-caption's tokeniser makes of COCO's captions. Capitals, the width of blanks, a mark at the
end, and how an accent is composed make no difference. Per cent, CIDEr too, as papers print it. A
score that has no value is `Missing`.

meteor        the Java program (Denkowski and Lavie 2014)
meteor_nltk   nltk's, of equal words and stems without synonyms: never to be compared with a paper's
METEOR
"""

import contextlib
import io
import os
import subprocess
import threading
from pathlib import Path
from types import SimpleNamespace
from unicodedata import normalize

from nltk.translate.meteor_score import meteor_score
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.meteor import meteor as pycocoevalcap_meteor
from pycocoevalcap.rouge.rouge import Rouge

from workflow.config.environment import LOCALE
from workflow.config.missing import Missing
from workflow.training.evaluation import Score

PATIENCE = 600  # seconds
# On a Mac, Java asks the system for the language, and takes no notice of a locale of C.
ENGLISH = ("-Duser.language=en", "-Duser.country=US", "-Dfile.encoding=UTF-8")
NOTHING = Missing("no caption was written")
# in place of WordNet, which would have to be downloaded
NO_SYNONYMS = SimpleNamespace(synsets=lambda word: [])


def plain(caption: str) -> str:
    """Write a caption as it is compared."""
    return " ".join(normalize("NFC", caption.lower()).split()).rstrip(" .!?")


def score(outputs: list[str], references: list[list[str]]) -> tuple[dict[str, Score], list[float]]:
    """Compute all scores of a corpus but METEOR, in per cent, and CIDEr of each picture, whose mean
    is the corpus'.
    """
    written = {n: [plain(output)] for n, output in enumerate(outputs)}
    wanted = {n: [*map(plain, right)] for n, right in enumerate(references)}
    if not written:
        return dict.fromkeys(
            ("bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l", "cider"), NOTHING
        ), []
    with contextlib.redirect_stdout(io.StringIO()):
        bleu, _ = Bleu(4).compute_score(wanted, written, verbose=0)
        rouge, _ = Rouge().compute_score(wanted, written)
        cider, by_picture = Cider().compute_score(wanted, written)
        most, _ = Cider().compute_score(wanted, {n: right[:1] for n, right in wanted.items()})
    scores = {f"bleu_{n}": value for n, value in enumerate(bleu, start=1)} | {
        "rouge_l": rouge,
        "cider": cider,
    }
    in_per_cent = {name: 100 * float(value) for name, value in scores.items()}
    longest = max(
        len(text.split()) for texts in (*written.values(), *wanted.values()) for text in texts
    )
    in_per_cent |= {
        f"bleu_{n}": Missing(f"no caption has {n} words") for n in range(longest + 1, 5)
    }
    if not most:  # the right captions themselves have none: a word of every picture weighs nothing
        nothing = Missing("every word occurs in the captions of every image")
        return in_per_cent | {"cider": nothing}, []
    return in_per_cent, [100 * float(value) for value in by_picture]


def meteor_by_java(outputs: list[str], references: list[list[str]]) -> Score:
    """Compute METEOR by its Java program, in per cent; `OSError` says why where that does not
    run.
    """
    outputs, references = [*map(plain, outputs)], [[*map(plain, right)] for right in references]
    if not outputs:
        return NOTHING
    try:
        return 100 * _run_program(outputs, references)
    except FileNotFoundError:
        reason = "Java is not installed"
    except (OSError, ValueError) as error:  # this java does not run, or has too little memory
        reason = f"METEOR's Java program failed ({type(error).__name__}: {error})"
    raise OSError(
        f"{reason}; `meteor: nltk` under evaluation in the scale's captioning.yaml"
        " uses nltk's instead"
    )


def meteor_by_nltk(outputs: list[str], references: list[list[str]]) -> Score:
    """Compute METEOR of equal words and stems, in per cent."""
    outputs, references = [*map(plain, outputs)], [[*map(plain, right)] for right in references]
    if not outputs:
        return NOTHING
    by_picture = [
        meteor_score(
            [reference.split() for reference in right], output.split(), wordnet=NO_SYNONYMS
        )
        for output, right in zip(outputs, references, strict=True)
    ]
    return 100 * sum(by_picture) / len(by_picture)


class _Program(pycocoevalcap_meteor.Meteor):
    """Talk to the Java program, which was started elsewhere."""

    def __init__(self, running: subprocess.Popen):
        self.meteor_p = running
        self.lock = threading.Lock()


def _start_program() -> subprocess.Popen:
    """Start the Java program as pycocoevalcap does, but with numbers as they are written in
    English.
    """
    command = ["java", *ENGLISH, "-Xmx2G", "-jar", pycocoevalcap_meteor.METEOR_JAR]
    command += ["-", "-", "-stdio", "-l", "en", "-norm"]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    folder = Path(pycocoevalcap_meteor.__file__).parent
    return subprocess.Popen(command, cwd=folder, env=os.environ | LOCALE, **pipes)


def _apart(caption: str) -> str:
    """Part bars from each other: the Java program takes three of them for the end of a caption."""
    return caption.replace("|", " | ")


def _run_program(outputs: list[str], references: list[list[str]]) -> float:
    """Run the Java program, which takes seconds to start; kill it after `PATIENCE`, so that nothing
    waits for it.
    """
    running = _start_program()
    program = _Program(running)
    alarm = threading.Timer(PATIENCE, running.kill)
    alarm.start()
    try:
        written = {n: [_apart(output)] for n, output in enumerate(outputs)}
        wanted = {n: [*map(_apart, right)] for n, right in enumerate(references)}
        score, _ = program.compute_score(wanted, written)
    finally:
        alarm.cancel()
        running.kill()
        with contextlib.suppress(OSError), running:  # closes its pipes
            pass
        program.lock = threading.Lock()  # an error leaves it held, and its end would wait for it
    return score
