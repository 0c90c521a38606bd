"""Stand-in until every import names workflow.settings.questions; then this file goes."""

import sys

from workflow.settings import questions

sys.modules[__name__] = questions
