"""What a net is asked to do: batches, loss, score. One file per task, named here once.

A task is made of a job, its data set and a device, and says:

unit              what its curve is in: "bpc", "ppl"; scale(nats) is a mean loss in that unit
losses(net)       of the next batch, part by part: loss in nats to be minimised, log-loss to be told, weight of the part
tokens            predicted in the last batch
glance(net)       scores on a piece of dev, for the learning curve
finish(net)       scores, facts and multiply-adds of the trained net
after_step(net, step), state_dict, load_state_dict
"""

from workflow.tasks.captioning import Captioning
from workflow.tasks.char_lm import CharLM
from workflow.tasks.parsing import Parsing
from workflow.tasks.translation import Translation

TASKS = {"char_lm": CharLM, "translation": Translation, "captioning": Captioning, "parsing": Parsing}
