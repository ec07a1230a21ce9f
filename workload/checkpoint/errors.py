"""What can go wrong with a checkpoint, beside the store itself: one line each, for whoever reads the job's log."""


class CheckpointError(Exception):
    """The root of them."""


class SavedAlreadyError(CheckpointError):
    """This rank saved this step of this run before, with other content."""


class AbandonedError(CheckpointError):
    """The save took so long that it was given up; the next one is not touched by that."""


class WorldSizeError(CheckpointError):
    """The checkpoint was saved by another number of ranks."""


class DamagedError(CheckpointError):
    """What is stored is not what was saved."""


class RunReusedError(CheckpointError):
    """A run that has saved already asks what to resume from: it was started again under the same name."""
