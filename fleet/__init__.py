"""The domain: what a Trainium or Inferentia fleet is. Pure Python, no I/O beyond packaged data, no clock, no AWS.

Everything that it raises on purpose, by the module that does; each message is one line::

    FleetError
    ├── instances.UnknownInstanceTypeError        (ValueError) EC2 has no such type
    │   └── instances.IncompleteInstanceTypeError the data file leaves a fact of it out
    ├── capacity.plan.FleetRefusedError           (ValueError) a fleet that cannot be built
    ├── jobs.plan.JobRefusedError                 (ValueError) a job that cannot run
    ├── alarms.metric_refs.AlarmSpecError         (ValueError) an alarm that would never fire
    ├── approval.RefusedError                     (ValueError) a person who may not approve
    ├── prices.record.PriceRecordError            (ValueError) an item of the price table
    ├── ledger.reading.UnreadableEventError       (ValueError) a log event
    ├── rollout.plan.PlanError                    (ValueError) a rollout's steps and gates
    ├── rollout.phases.RefusedError               what cannot be done to a rollout now
    ├── serving.buckets.BucketError               (ValueError) an endpoint's sequence lengths
    ├── serving.buckets.TooLongError              (ValueError) a request that no bucket takes
    ├── serving.measurement.MeasurementError      (ValueError) what a task says of its requests
    ├── shadow.sample.SampleError                 (ValueError) recorded requests
    ├── checkpoints.layout.RunNameError           (ValueError) a run's name
    ├── checkpoints.manifest.ManifestError        (ValueError) a checkpoint's manifest
    ├── compile_cache.graph.GraphNameError        (ValueError) a compiled graph's name
    ├── compile_cache.manifest.ManifestError      (ValueError) an archive's manifest
    ├── compile_cache.whereabouts.WhereaboutsError (ValueError) where a graph lies
    ├── compile_cache.artifact.ArtifactError      (ValueError) an artifact's name
    ├── compile_cache.index.ArtifactIndexError    (ValueError) an artifact's index
    └── compile_cache.request.RequestError        (ValueError) a request to precompile
"""


class FleetError(Exception):
    """The root of them."""
