"""What colors say: red is trouble, grey is what nobody knows, and nothing else is either.

Every two states can be told apart, and every band of the heat from the next, also by who does not see red and green
apart, on a light and on a dark page: tests measure it. Of cores, blue is busy and gold is idle: on a fleet that is paid
for, a core at 97 % is health and no warning.
"""

from typing import Final

ALARM: Final = "#d13212"
TARGET: Final = "#1f77b4"
RUNNING: Final = "#347448"
CHECKPOINT: Final = "#059fbe"
COMPILING: Final = "#6263be"
STARTUP: Final = "#2d8cf0"
NO_JOB: Final = "#948b4f"
DRAINING: Final = "#ae1cf9"
UNSEEN: Final = "#7f8790"

# Cores by how busy they are, from idle to busy.
HEAT: Final = ("#b79956", "#b3b305", "#09c466", "#288ec8", "#3468c0", "#404fdb")
