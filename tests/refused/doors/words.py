"""The words of a command."""

from tests._jobs import job
from tests.refused._kind import Kind

JOB = {"job.json": job().canonical()}
FILE = "models/attention/spans/full.py"

KINDS = {
    "compare: one set": Kind("cli.compare a", "the following arguments are required: b"),
    "compare: another page": Kind("cli.compare a b --page c.txt", "c.txt: expected a name that ends in .html"),
    "compare: a page within": Kind("cli.compare a b --page reports/c.html", "reports/ is written by the workflow"),
    "compare: no set": Kind("cli.compare a b", "a: no such results folder"),
    "merge: no set": Kind("cli.merge a.csv", "the following arguments are required: sets"),
    "merge: another name": Kind("cli.merge a.txt b", "a.txt: expected a name that ends in .csv"),
    "merge: a name within": Kind("cli.merge results/a.csv b", "results/ is written by the workflow"),
    "merge: an option's beginning": Kind("cli.merge a.csv b --pag c.html", "did you mean --page?"),
    "estimate: no results": Kind("cli.estimate --results none", "none: no such results folder"),
    "estimate: no core": Kind("cli.estimate --cores 0", "invalid whole number of at least 1 value: '0'"),
    "estimate: half a core": Kind("cli.estimate --cores 1.5", "invalid whole number of at least 1 value: '1.5'"),
    "watch: every nothing": Kind("cli.watch --every 0", "--every 0: expected seconds from 0.1 to 86,400"),
    "watch: every none": Kind("cli.watch --every nan", "--every nan: expected seconds from 0.1 to 86,400"),
    "watch: every now and then": Kind("cli.watch --every often", "--every: invalid float value: 'often'"),
    "watch: a scale that leads out": Kind(
        "cli.watch --once --scale ../../etc", "results/../../etc/plan.json: no plan yet"
    ),
    "export: an unknown form": Kind(
        "cli.export excel a b", "invalid choice: 'excel' (choose from 'tensorboard', 'wandb')"
    ),
    "profile: no step": Kind("cli.profile job.json a.gz --steps 0", "--steps 0: expected a number from 1 to 100", JOB),
    "profile: another name": Kind("cli.profile job.json a.txt", "a.txt: expected a name that ends in .gz", JOB),
    "profile: no data": Kind("cli.profile job.json a.gz", "results/data/toy.npz: not there yet", JOB),
    "profile: no job": Kind("cli.profile job.json a.gz", "job.json: No such file"),
    "precompute: an unknown scale": Kind("cli.precompute smok", "unknown scale 'smok': did you mean 'smoke'?"),
    "precompute: not made": Kind("cli.precompute smoke", "record.json: not made yet"),
    "schemas: into a file": Kind("cli.schemas a", "a: File exists", {"a": ""}),
    "new: an unknown kind": Kind("cli.new spam mine", "invalid choice: 'spam'"),
    "new: a name that leads out": Kind("cli.new claim ../evil", "start this in the suite's own folder"),
    "accept: no reason": Kind(f"cli.accept {FILE}", "the following arguments are required: --why"),
    "accept: an empty reason": Kind(f"cli.accept {FILE} --was {'0' * 12} --why \0", "why = '': String should have"),
    "accept: a digest that is none": Kind(f"cli.accept {FILE} --why because --was x", "was = 'x': String should match"),
    "accept: a file that is not there": Kind("cli.accept models/none.py --why because", "models/none.py: no such file"),
    "accept: a file of others": Kind("cli.accept ../../etc/passwd --why because", "../../etc/passwd: no such file"),
    "accept: a file at the root": Kind("cli.accept /etc/passwd --why because", "/etc/passwd: no such file"),
    "accept: nothing to accept": Kind(f"cli.accept {FILE} --why because", "nothing to accept"),
    "train: no data": Kind("scripts.train job.json", "the following arguments are required: --data", JOB),
    "precomputed: another job": Kind("scripts.precomputed --scale laptop record.json", "no record of job", JOB),
    "precomputed: costs of nothing": Kind(
        "scripts.precomputed --scale laptop flops/none.json", "did not come with the project"
    ),
    "precomputed: no file": Kind(
        "scripts.precomputed --scale laptop", "one of the arguments files --missing is required"
    ),
    "bundle: another name": Kind("scripts.bundle a.tar --scale smoke", "a.tar: expected a name that ends in .zip"),
    "bundle: a name within": Kind("scripts.bundle reports/a.zip --scale smoke", "outside reports"),
    "best reader: no stream": Kind("scripts.best_reader topics a.npz b.json --windows 4 --streams 0 --tokens 9", "'0'"),
    "best reader: no window": Kind(
        "scripts.best_reader topics a.npz b.json --windows -4 --streams 2 --tokens 9", "'-4'"
    ),
    "best reader: a text of others": Kind(
        "scripts.best_reader words a.npz b.json --windows 4 --streams 1 --tokens 9", "only for texts of kind topics"
    ),
    "best reader: an unknown text": Kind(
        "scripts.best_reader topic a.npz b.json --windows 4 --streams 1 --tokens 9", "unknown data set 'topic'"
    ),
    "borders: no stream": Kind("scripts.topic_borders topics a.npz b.json --streams 0 --tokens 9", "'0'"),
    "borders: fewer than no token": Kind("scripts.topic_borders topics a.npz b.json --streams 2 --tokens -9", "'-9'"),
    "borders: a text of others": Kind(
        "scripts.topic_borders words a.npz b.json --streams 2 --tokens 9", "a.npz: No such file"
    ),
    "layers: no measure": Kind("scripts.layers a.json", "the following arguments are required: --measure"),
    "layers: a measure of nothing": Kind("scripts.layers a.json --measure {}", "passes"),
    "engine: sizes of nothing": Kind("scripts.engine a.json --sizes {}", "sizes: layers"),
    "engine: sizes that are a list": Kind(
        "scripts.engine a.json --sizes []", "sizes: []: Input should be a valid dictionary"
    ),
    "throughput: a measure of nothing": Kind("scripts.throughput a.json b --reference c --measure {}", "passes = {}"),
    "table: no name": Kind("scripts.table", "the following arguments are required: name, out"),
}
