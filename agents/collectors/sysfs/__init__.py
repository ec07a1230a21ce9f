"""What the Neuron driver shows in sysfs: memory, ECC, power, status counters and resets, by device and core."""
