"""Stand-in until every import names workflow.settings.config; then this file goes."""

import sys

from workflow.settings import config

sys.modules[__name__] = config
