"""The nets around the attention, by name."""

from models.nets.captioner import Captioner
from models.nets.char_lm import CharLM
from models.nets.seq2seq import Seq2Seq
from models.nets.transformer_xl import TransformerXLNet

NETS = {"char_lm": CharLM, "transformer_xl": TransformerXLNet, "seq2seq": Seq2Seq, "captioner": Captioner}
