"""Settings for all tests."""

import os

from hypothesis import settings

# The same examples every time where nobody looks at a failure; new ones on a developer's machine.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
