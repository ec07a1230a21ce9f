"""What can go wrong with the compile cache; every message is one line that names the place."""


class CacheError(Exception):
    """The cache cannot be used as it is set up, or its local disk cannot take a graph."""


class DamagedError(CacheError):
    """A graph in the shared tier is not what its manifest says, or has none."""


class CompilationFailedError(CacheError):
    """The compiler refused the graph, here or on another node; the message is the compiler's."""


class MissError(CacheError):
    """The graph is in no tier, and this workload must not compile."""


class LeaseTableError(CacheError):
    """The lease table did not answer, or refused."""


class ColdTierError(CacheError):
    """S3 did not answer, or refused, or holds something else than was put there."""
