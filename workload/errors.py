"""Everything that this library raises on purpose; each message is one line that names the place.

::

    WorkloadError
    ├── CheckpointError           a checkpoint, beside the store itself
    │   ├── SavedAlreadyError
    │   ├── AbandonedError
    │   ├── WorldSizeError
    │   ├── DamagedCheckpointError
    │   └── RunReusedError
    ├── StoreError                where checkpoints are kept
    │   └── MissingError
    ├── PlaceError                (ValueError) no place for checkpoints
    ├── CacheError                the compile cache
    │   ├── DamagedGraphError
    │   ├── CompilationFailedError
    │   ├── MissError
    │   ├── LeaseTableError
    │   └── ColdTierError
    ├── NothingToKeepError        the compiler ended without an answer
    └── ServingError              a serving process
        └── RuntimeSickError
"""


class WorkloadError(Exception):
    """The root of them."""


class CheckpointError(WorkloadError):
    """A checkpoint cannot be saved or resumed from, for a reason beside the store itself."""


class SavedAlreadyError(CheckpointError):
    """This rank saved this step of this run before, with other content."""


class AbandonedError(CheckpointError):
    """The save took so long that it was given up; the next one is not touched by that."""


class WorldSizeError(CheckpointError):
    """The checkpoint was saved by another number of ranks."""


class DamagedCheckpointError(CheckpointError):
    """What is stored is not what was saved."""


class RunReusedError(CheckpointError):
    """A run that has saved already asks what to resume from: it was started again under the same name."""


class StoreError(WorkloadError):
    """The store could not do it, after its retries; the message names the place and the cause in one line."""


class MissingError(StoreError):
    """What is asked for is not there."""


class PlaceError(WorkloadError, ValueError):
    """A location for checkpoints that is neither in S3 nor a directory; the message says what it can be."""


class CacheError(WorkloadError):
    """The cache cannot be used as it is set up, or its local disk cannot take a graph."""


class DamagedGraphError(CacheError):
    """A graph in the shared tier is not what its manifest says, or has none."""


class CompilationFailedError(CacheError):
    """The compiler refused the graph, here or on another node; the message is the compiler's."""


class MissError(CacheError):
    """The graph is in no tier, and this workload must not compile."""


class LeaseTableError(CacheError):
    """The lease table did not answer, or refused."""


class ColdTierError(CacheError):
    """S3 did not answer, or refused, or holds something else than was put there."""


class NothingToKeepError(WorkloadError):
    """The compiler was killed, or left no NEFF: that says nothing about the graph, and another node may try."""


class ServingError(WorkloadError):
    """The process cannot serve as it is set up."""


class RuntimeSickError(ServingError):
    """The Neuron runtime did not answer; the message says what was seen of it."""
