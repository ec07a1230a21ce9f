"""Loaded models: what makes a full node's line 0.4 MB long, and nothing that the agent reads."""

from tests.support.samples import Json


def with_models(made: Json, models: int = 20) -> Json:
    """``made`` with as many loaded models in each runtime as were captured; half a kilobyte each."""
    places = {"constants": 163840, "model_code": 60999232, "runtime_memory": 0, "tensors": 0}
    for runtime in made["neuron_runtime_data"]:
        runtime["report"]["memory_used"]["loaded_models"] = [
            {
                "name": f"/cache/neuroncc_compile_workdir/{index:036d}/model.MODULE_{index:020d}+c7db2df4.neff",
                "uuid": f"{runtime['pid']:016x}{index:016x}",
                "model_id": 10001 + index,
                "is_running": False,
                "subgraphs": {
                    "sg_00": {
                        "memory_used_bytes": {
                            "host": 20480,
                            "neuron_device": 61163072,
                            "usage_breakdown": {
                                "host": {"application_memory": 20480, "constants": 0, "dma_buffers": 0, "tensors": 0},
                                "neuron_device": places,
                            },
                        },
                        "neuroncore_index": index % 2,
                        "neuron_device_index": 0,
                    }
                },
            }
            for index in range(models)
        ]
    return made
