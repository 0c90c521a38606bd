"""The records that came with the project, as tables and figures see them."""

from functools import cache

from workflow.config.files import PRECOMPUTED
from workflow.report.bundle import Bundle, read_bundle
from workflow.results.precomputed import precomputed_scales

SCALES = precomputed_scales()


@cache
def recorded(scale: str) -> Bundle:
    return read_bundle(PRECOMPUTED / scale)
