"""Which code computes a bucket of heads: chosen by what is asked, told, and forced by one key."""

from torch import Tensor

from models.attention.banded import attend_band
from models.attention.bucket import Bucket
from models.attention.gathered import attend_kept
from models.attention.selections.top_k import TopK


def attend_bucket(bucket: Bucket, q, r, k, v, places, z, parameters: list) -> Tensor:
    if isinstance(bucket.selection, TopK) and bucket.selection.k < bucket.reach:
        return attend_kept(bucket, q, r, k, v, places, z, parameters)
    return attend_band(bucket, q, r, k, v, places, z, parameters)
