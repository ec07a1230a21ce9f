"""`fleet replay`: the alarm backtest."""
