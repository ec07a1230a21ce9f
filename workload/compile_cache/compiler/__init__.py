"""A ``neuronx-cc`` in front of the real one: what a framework asks it to compile is looked for in the fleet first.

libneuronxla starts the compiler once for each graph that its own cache misses. Its log shows how ("Call compiler with
cmd: neuronx-cc compile --framework=XLA /tmp/.../model.MODULE_<graph>+<flags>.hlo_module.pb --output
/tmp/.../model.MODULE_<graph>+<flags>.neff --target=trn1 --verbose=35", logs of 2023 to 2026 in public repositories,
among them the Neuron SDK's NKI tutorials). That a bare ``neuronx-cc`` is looked for on PATH follows from the first word
of that command, and that the file at ``--output`` and an exit code of 0 are all it wants from the order in which its
cache's files appear; libneuronxla's source is not public: [UNVERIFIED], both. Where the first does not hold the real
compiler runs as it would without this.
"""
