"""The host beside its accelerators: processors, memory, disks, network, and file systems on the network."""
