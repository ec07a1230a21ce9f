"""``python -m cli``: the `fleet` command without an installed script."""

from cli.main import app

app(prog_name="fleet")
