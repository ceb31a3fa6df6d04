"""Settings for all tests."""

import os

from hypothesis import HealthCheck, settings

# No example fails because the machine is busy.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The same examples every time where nobody looks at a failure; new ones on a developer's machine.
settings.register_profile("ci", settings.get_profile("any machine"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "any machine")
