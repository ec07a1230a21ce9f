"""The demo: a three-hour incident on the whole platform, and the pages that must come of it."""
