"""What adaptive temperature does with its coefficients in two orders, by formula."""

import pandas as pd

from studies.long_context.formulas import TEMPERATURE, sharpening
from workflow.report.tables.cells import analytic, make_table

READS = ()
TITLE = "Adaptive temperature with its coefficients in two orders"
CAPTION = (
    "The factor of the scores, by the entropy of their softmax. In the paper, the coefficients "
    "start with the highest power; in the code released with ASEntmax, with the lowest. A factor "
    "of 1 leaves the scores unchanged. By formula, without training."
)
ENTROPIES = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0)
ORDERS = {"as published": TEMPERATURE, "in the released code": TEMPERATURE[::-1]}


def build() -> pd.DataFrame:
    """Compute the factor at each entropy for both orders."""
    cells = []
    for entropy in ENTROPIES:
        for column, coefficients in ORDERS.items():
            factor = round(sharpening(entropy, coefficients), 2)
            cells.append(analytic(f"entropy {entropy:g} nats", column, factor, "×"))
    return make_table(cells)
