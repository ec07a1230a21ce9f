"""A server of one model on Neuron: OpenAI's completions and embeddings, buckets, health and figures.

``docs/serving.md`` shows it. ``python -m examples.serving`` starts it; with ``--standin`` on any machine.
"""
