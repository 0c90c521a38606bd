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
SCORES = ("bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l", "cider")
NOTHING = Missing("no caption was written")
# in place of WordNet, which would have to be downloaded
NO_SYNONYMS = SimpleNamespace(synsets=lambda word: [])


def plain(caption: str) -> str:
    """Write a caption as it is compared."""
    composed = normalize("NFC", caption.lower())
    words = " ".join(composed.split())
    return words.rstrip(" .!?")


def score(outputs: list[str], references: list[list[str]]) -> tuple[dict[str, Score], list[float]]:
    """Compute all scores of a corpus but METEOR, and CIDEr of each picture, in per cent.

    CIDEr of the corpus is the mean over pictures.
    """
    if not outputs:
        return dict.fromkeys(SCORES, NOTHING), []
    # by number of the picture, as pycocoevalcap takes them
    written = {}
    wanted = {}
    one_of_each = {}
    for n, output in enumerate(outputs):
        written[n] = [plain(output)]
        wanted[n] = [plain(reference) for reference in references[n]]
        one_of_each[n] = wanted[n][:1]
    with contextlib.redirect_stdout(io.StringIO()):
        bleu, _ = Bleu(4).compute_score(wanted, written, verbose=0)
        rouge, _ = Rouge().compute_score(wanted, written)
        cider, by_picture = Cider().compute_score(wanted, written)
        most, _ = Cider().compute_score(wanted, one_of_each)
    scores: dict[str, Score] = {}
    for name, value in zip(SCORES, (*bleu, rouge, cider), strict=True):
        scores[name] = 100 * float(value)
    longest = 0
    for captions in (*written.values(), *wanted.values()):
        for caption in captions:
            longest = max(longest, len(caption.split()))
    for n in range(longest + 1, 5):
        scores[f"bleu_{n}"] = Missing(f"no caption has {n} words")
    # the right captions themselves have none: a word of every picture weighs nothing
    if not most:
        scores["cider"] = Missing("every word occurs in the captions of every image")
        return scores, []
    return scores, [100 * float(value) for value in by_picture]


def meteor_by_java(outputs: list[str], references: list[list[str]]) -> Score:
    """Compute METEOR by its Java program, in per cent; `OSError` says why where that does not
    run.
    """
    if not outputs:
        return NOTHING
    written = [plain(output) for output in outputs]
    wanted = [[plain(each) for each in right] for right in references]
    try:
        return 100 * _run_program(written, wanted)
    except FileNotFoundError:
        reason = "Java is not installed"
    except (OSError, ValueError) as error:  # this java does not run, or has too little memory
        reason = f"METEOR's Java program failed ({type(error).__name__}: {error})"
    hint = "`meteor: nltk` under evaluation in the scale's captioning.yaml uses nltk's instead"
    raise OSError(f"{reason}; {hint}")


def meteor_by_nltk(outputs: list[str], references: list[list[str]]) -> Score:
    """Compute METEOR of equal words and stems, in per cent."""
    if not outputs:
        return NOTHING
    by_picture = []
    for output, right in zip(outputs, references, strict=True):
        written = plain(output).split()
        wanted = [plain(reference).split() for reference in right]
        by_picture.append(meteor_score(wanted, written, wordnet=NO_SYNONYMS))
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
        written = {}
        wanted = {}
        for n, output in enumerate(outputs):
            written[n] = [_apart(output)]
            wanted[n] = [_apart(reference) for reference in references[n]]
        score, _ = program.compute_score(wanted, written)
    finally:
        alarm.cancel()
        running.kill()
        with contextlib.suppress(OSError), running:  # closes its pipes
            pass
        program.lock = threading.Lock()  # an error leaves it held, and its end would wait for it
    return score
