"""The agent as one file: what nodes install. Made by ``make agent``, delivered by synthesis; knows no CDK."""
