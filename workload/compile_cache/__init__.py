"""The compile cache of a node or a job's container: compiles on local disk, shares finished graphs with the fleet.

Three tiers. LOCAL is the compiler's own folder on local disk, and the only place where anything is compiled. SHARED is
a network file system: graphs are fetched from it on a miss, and promoted into it whole or not at all. COLD is S3, for
whole models. Which node compiles a graph that is in none of them is agreed on in a lease table.

Standard library only, except for ``adapters.py``; it needs neither a framework nor the Neuron SDK.
"""
