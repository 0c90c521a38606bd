"""weights.pt and checkpoint.pt, as costs are measured from them."""

import io
import zipfile

import torch

from tests._jobs import job
from tests.refused._kind import Kind

JOB = job()
COMMAND = "scripts.costs run/weights.pt --flops flops.json --memory memory.json --device cpu"


class Evil:
    def __reduce__(self):
        return (exec, ("open('evil', 'w')",))


def saved(state: object, **options) -> bytes:
    file = io.BytesIO()
    torch.save(state, file, **options)
    return file.getvalue()


def packed(content: bytes) -> bytes:
    """The same archive, as nobody who writes tensors packs it."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as other:
        for name in archive.namelist():
            other.writestr(name, archive.read(name))
    return file.getvalue()


def kind(says: str, content: bytes, command: str = COMMAND) -> Kind:
    return Kind(command, says, {"run/job.json": JOB.canonical(), "run/weights.pt": content})


GOOD = {"version": 1, "digest": JOB.digest}
FOREIGN = saved({**GOOD, "net": {"other.weight": torch.zeros(3)}})
LONGEST = "scripts.longest_span run/weights.pt out.json --device cpu --measure {}"
MEASURE = '{"passes":1,"seconds":0.1,"memory_mb":99,"longest_S":64}'

KINDS = {
    "not there": Kind(COMMAND, "run/weights.pt: No such file or directory", {"run/job.json": JOB.canonical()}),
    "no job beside them": Kind(COMMAND, "run/job.json: No such file or directory", {"run/weights.pt": FOREIGN}),
    "empty": kind("not a checkpoint of this suite, or cut off", b""),
    "cut off": kind("not a checkpoint of this suite, or cut off", FOREIGN[:-99]),
    "another file": kind("not a checkpoint of this suite, or cut off", b"step,dev_bpc\n100,2.5\n"),
    "code": kind("not a checkpoint of this suite, or cut off", saved({**GOOD, "net": Evil()})),
    "code, in the older form": kind(
        "not a checkpoint", saved({**GOOD, "net": Evil()}, _use_new_zipfile_serialization=False)
    ),
    "packed, so that they may swell": kind(
        "would unpack to", packed(saved({**GOOD, "net": {"w": torch.zeros(99999)}}))
    ),
    "a tensor alone": kind("checkpoint version None, expected 1", saved(torch.zeros(3))),
    "of another version": kind("checkpoint version 9, expected 1", saved({**GOOD, "version": 9})),
    "of another job": kind("a checkpoint of job abc, not of", saved({**GOOD, "digest": "abc"})),
    "without a net": kind("weights that are not", saved(GOOD)),
    "a net that is a list": kind("weights that are not", saved({**GOOD, "net": [1]})),
    "of another net": kind("weights that are not", FOREIGN),
    "a measure that is none": kind("measure: truncated or not JSON", FOREIGN, LONGEST.format("{")),
    "a measure of no time": kind(
        "seconds = 0: Input should be greater than 0", FOREIGN, LONGEST.format(MEASURE.replace("0.1", "0"))
    ),
}
