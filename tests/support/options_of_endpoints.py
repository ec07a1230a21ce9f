"""What an environment file may say of an endpoint: a row for each key."""

from typing import Final

from tests.support.environment_options import CERTIFICATE, DIGEST, REGISTRY, SERVES, fleet_option

OF_ENDPOINTS: Final = (
    fleet_option("endpoint.engine", ["ecs"], ["eks"], SERVES),
    fleet_option("endpoint.sequence_lengths", [[128, 256], [1]], [[256, 128], [], [0]], (*SERVES, "hosted")),
    fleet_option("endpoint.sequence_lengths", [list(range(1, 65))], [list(range(1, 66))], (*SERVES, "hosted")),
    fleet_option("endpoint.batch_sizes", [[1, 4], [8]], [[4, 1]], (*SERVES, "hosted")),
    fleet_option("endpoint.batch_sizes", [list(range(10**9, 10**9 + 64))], [[10**30]], (*SERVES, "hosted")),
    fleet_option(
        "endpoint.artifact",
        [{"model": "meta/llama", "version": "r1"}, {"model": "m" * 200, "version": "v" * 200}],
        [{"model": "", "version": "r"}, {"model": "ü ${X}", "version": "*"}, {"model": "../..", "version": ".."}],
        (*SERVES, "hosted"),
    ),
    fleet_option("endpoint.clients.cidrs", [["10.99.0.0/16"], ["203.0.113.7/32"]], [["0.0.0.0/0"]], SERVES),
    fleet_option(
        "endpoint.clients.cidrs",
        [[f"10.99.{n}.0/24" for n in range(59)]],
        [[f"10.99.{n}.0/24" for n in range(60)]],
        SERVES,
    ),
    fleet_option(
        "endpoint.clients",
        [{"public": True, "cidrs": ["203.0.113.7/32", "203.0.113.7/32"]}],
        [{"public": True}],
        SERVES,
    ),
    fleet_option("endpoint.clients.public", [False], [True], SERVES),
    fleet_option("endpoint.port", [80, 8001, 65535], [0, 65536, 8080], SERVES),
    fleet_option("endpoint.port", [8080], [8000], ("hosted",)),
    fleet_option("endpoint.health_path", ["/", "/a?b=c&d=$x"], ["health", "/a b", "/" + "x" * 1024, "/ü"], SERVES),
    fleet_option("endpoint.health_path", ["/ping"], ["/healthz"], ("hosted",)),
    fleet_option("endpoint.liveness_path", [None, "/live", "/a'b\"c$(d)"], ["live", "/ü"], SERVES),
    fleet_option("endpoint.loading_minutes", [1, 38], [39], (*SERVES, "hosted")),
    fleet_option("endpoint.devices_per_task", [1], [2, 13], (*SERVES, "hosted")),
    fleet_option("endpoint.latency_p99_seconds", [0.001, 500], [0], (*SERVES, "hosted")),
    fleet_option(
        "endpoint.certificate_arn", [CERTIFICATE], [None, "arn:aws:acm:eu-west-1:111122225555:certificate/a"], SERVES
    ),
    fleet_option(
        "endpoint.container_image",
        [f"{REGISTRY}/a/b_c:t@{DIGEST}"],
        ["chat:local", f"{REGISTRY}/chat:dev", ""],
        (*SERVES, "hosted"),
    ),
    fleet_option(
        "endpoint.sagemaker",
        [{"min": 1, "max": 4, "invocations_per_instance_minute": 10}],
        [
            {"min": 3, "max": 4, "invocations_per_instance_minute": 10},
            {"min": 2, "max": 1, "invocations_per_instance_minute": 1},
        ],
        ("hosted",),
    ),
    fleet_option("endpoint.sagemaker", [], [{"min": 1, "max": 4, "invocations_per_instance_minute": 10}], SERVES),
    fleet_option("endpoint.sagemaker_generation", [1, 2, 99], [0], ("hosted",)),
    fleet_option("endpoint.rollout.steps", [[100], [1, 2, 100]], [[50], [100, 50]], (*SERVES, "hosted")),
    fleet_option(
        "endpoint.rollout.steps",
        [[10, 50, 100]],
        [[*range(80, 101)], [5 * n for n in range(1, 21)]],
        (*SERVES, "hosted"),
    ),
    fleet_option("endpoint.rollout.bake_minutes", [0.5, 20], [0, 1440], (*SERVES, "hosted")),
    fleet_option("endpoint.rollout.min_requests", [1, 10**9], [0], (*SERVES, "hosted")),
    *(
        fleet_option(f"endpoint.rollout.{key}", [1, 70], [-1, 1441, 300], (*SERVES, "hosted"))
        for key in ("artifact_minutes", "ready_minutes", "traffic_minutes", "promotion_minutes")
    ),
    fleet_option("endpoint.rollout.pause_hours", [0.1, 24], [0, 25], (*SERVES, "hosted")),
    fleet_option("endpoint.rollout.drain_seconds", [0, 3600], [3601], (*SERVES, "hosted")),
    fleet_option("endpoint.rollout.look_seconds", [60, 30], [1, 61], (*SERVES, "hosted")),
    fleet_option("endpoint.rollout.gates.error_percent", [None, 5], [100], (*SERVES, "hosted")),
    fleet_option("endpoint.rollout.gates.latency_ratio", [None, 2], [1], (*SERVES, "hosted")),
    fleet_option("endpoint.rollout.gates.latency_slack_seconds", [0, 1], [-1], (*SERVES, "hosted")),
    fleet_option("endpoint.rollout.gates.runtime_errors", [None, 3], [-1], SERVES),
    fleet_option("endpoint.rollout.gates.runtime_errors", [None], [1], ("hosted",)),
    fleet_option("endpoint.rollout.gates.cost_increase_percent", [None, 5], [0], SERVES),
    fleet_option(
        "endpoint.rollout.gates.alarms",
        [[], ["EndpointErrors"], ["HardwareFault"]],
        [["Nobody"], ["ü" * 200]],
        (*SERVES, "hosted"),
    ),
    fleet_option("endpoint.rollout.shadow", [{}], [{"min_requests": 0}], SERVES),
    *(
        fleet_option(f"endpoint.rollout.shadow.{key}", sound, odd, SERVES)
        for key, sound, odd in (
            ("sample_percent", [0.1, 100], [0]),
            ("keep_days", [1, 30], [31]),
            ("min_requests", [1, 1000], [1001]),
            ("equal_percent", [None, 50], [0]),
            ("cosine", [0.5, 1], [2]),
            ("failed_percent", [None, 0], [100]),
            ("latency_ratio", [None, 3], [1]),
            ("latency_slack_seconds", [0, 9], [-1]),
            ("minutes", [1, 30], [0, 1440]),
        )
    ),
    fleet_option("endpoint.scaling.min_nodes", [1], [0, 2, 3], ("scaled",)),
    fleet_option("endpoint.scaling.targets.requests_in_flight_per_core", [0.5, 10000], [0], ("scaled",)),
    fleet_option("endpoint.scaling.targets.queue_seconds", [0.1, 3600], [0], ("scaled",)),
    fleet_option("endpoint.scaling.targets.core_utilization_percent", [1, 100], [101], ("scaled",)),
    fleet_option("endpoint.scaling.targets", [], [{}, {"queue_seconds": 1}], ("scaled",)),
    fleet_option("endpoint.scaling.warm_up_minutes", [1, 60], [180, 181], ("scaled",)),
    fleet_option("endpoint.scaling.scale_in_cooldown_minutes", [1, 1440], [0], ("scaled",)),
    fleet_option(
        "endpoint.scaling",
        [{"min_nodes": 0, "scale_to_zero_after_minutes": 60, "targets": {"core_utilization_percent": 60}}],
        (),
        SERVES,
    ),
    fleet_option("endpoint.scaling.scale_to_zero_after_minutes", [], [45, 1440, 44], ("scaled",)),
    fleet_option(
        "endpoint.scaling.warm_pool",
        [{"nodes": 1}, {"nodes": 1, "state": "stopped"}],
        [{"nodes": 1, "state": "running"}, {"nodes": 2000}],
        ("scaled",),
    ),
)
