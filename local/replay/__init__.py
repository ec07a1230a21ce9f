"""The alarm backtest: scenarios and recordings through the agent's pipeline and the alarm rules, in virtual time."""
