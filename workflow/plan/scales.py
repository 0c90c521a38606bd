"""Stand-in until every import names workflow.settings.scales; then this file goes."""

import sys

from workflow.settings import scales

sys.modules[__name__] = scales
