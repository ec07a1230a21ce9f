"""SageMaker's endpoints, as far as rollouts need them: models, configurations, endpoints with variants and weights.

Nothing runs here. A change is under way for a moment, during which every other one is refused, as SageMaker does.
"""
