"""Metric math: the syntax of an expression, the functions, and the queries of one request together."""
