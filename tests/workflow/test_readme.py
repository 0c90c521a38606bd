"""What the docs add to the suite works as written there."""

import pytest

from tests._copied import copied, ended, shown, written

pytestmark = pytest.mark.slow


def test_an_added_variant_passes_the_contract_it_did_not_write(tmp_path):
    copy = written(copied(tmp_path, "tests"), shown("docs/variant.md"), "models/")
    files = ("tests/models/test_contract.py", "tests/models/test_effects.py")
    chosen = (*files, "-k", "within_margin and (fixed or check)")
    tested = ended(copy, "pytest", "-q", "-p", "no:cacheprovider", *chosen)
    assert tested.returncode == 0 and "passed" in tested.stdout, tested.stdout[-2000:]
