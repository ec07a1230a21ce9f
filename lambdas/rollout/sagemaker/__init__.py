"""The sides of a rollout as a SageMaker endpoint has them: two variants, their models and their weights.

SageMaker takes one change of an endpoint at a time and refuses the next until that is through, which is minutes. So the
candidate gets all its instances before its first request: while requests are shared, nothing is ever under way but a
change of weights, and going back is the next one.
"""
