"""Every test here closes the figures that it has drawn."""

import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")
