"""What every node agrees on about compiled graphs: their names, who compiles one, when it is whole, when it is dropped.

The rules alone, without files and without AWS; ``workload/compile_cache`` applies them.
"""
