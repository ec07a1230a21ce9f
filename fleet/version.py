"""The project's version, which the commands, the agent's events and the stacks' metadata show.

It lives in the domain because everything that shows it may import that, and because reading it needs nothing else.
"""

from typing import Final

VERSION: Final = "0.2.0"
