"""What an environment file may say of a fleet, whatever it is for, and of one that trains: a row for each key."""

from typing import Final

from tests.support.environment_options import (
    GROUP,
    LONG,
    ODD_TEXT,
    ON_NODES,
    OWNERS,
    REGISTRY,
    SERVES,
    TRAINS,
    fleet_option,
)

OF_FLEETS: Final = (
    fleet_option("name", ["one", LONG, "a-b"], ["x", "1a", "two-place", "two"], ON_NODES),
    fleet_option("name", ["ab"], [LONG], ("hosted",)),
    fleet_option("owner", OWNERS, ODD_TEXT),
    fleet_option("nodes", [2, 3], [0, 1, 101, 1001, 2001]),
    fleet_option(
        "image_parameter",
        ["/my/image", "/aws/service/x"],
        ["", "a b", "aws", "/" + "x" * 1100, "ami-0123456789abcdef0"],
        ON_NODES,
    ),
    fleet_option("efa", [True, False], ["maybe"], TRAINS),
    fleet_option("efa", [False], [True], SERVES),
    fleet_option("efa_layout", ["efa"], ["efa-only"], SERVES),
    fleet_option("alternative_types", [["inf2.24xlarge"]], [["trn1.2xlarge"]], SERVES),
    fleet_option("efa_layout", ["efa", "efa-only"], ["efs"], TRAINS),
    fleet_option("placement_group", [False], [True], ("batch", "pool", "block", *SERVES)),
    fleet_option(
        "alternative_types", [["trn1n.32xlarge"]], [["trn1.2xlarge"], ["nothing"], ["inf2.xlarge"]], ("batch", "pool")
    ),
    fleet_option("neuron_sdk", ["2.28", "2.27.1"], ["2.29", "2.33", "2"]),
    fleet_option("framework", ["nxd-inference", "torch-xla"], ["vllm", "nxd-training", "jax", "tf"]),
    fleet_option("lnc", [1], [2, 3], ON_NODES),
    fleet_option("dtype", ["fp32", "fp16", "bf16"], ["fp8", "int8"]),
    fleet_option("target_utilization_percent", [30, 99.5], [0, 101], ON_NODES),
    fleet_option("reports_flops", [True, False]),
    fleet_option(
        "price",
        [{"usd_per_hour": 9.5, "contract": "EDP 2026", "as_of": "2026-10-01"}],
        [
            {"usd_per_hour": 1, "contract": "a (b)", "as_of": "2026-10-01"},
            {"usd_per_hour": 1, "contract": "${X} ü", "as_of": "2026-10-01"},
        ],
    ),
    fleet_option("gate.required", [True, False], (), ON_NODES),
    fleet_option("gate.driver", ["2.25", "2.25.11"], ["2"], ON_NODES),
    fleet_option("gate.tools", ["2.25"], ["x"], ON_NODES),
    fleet_option("alarms.low_utilization_percent", [1, 99], [0], ON_NODES),
    fleet_option("alarms.low_core_utilization_percent", [1, 100], [101], ON_NODES),
    fleet_option("alarms.wasted_usd_per_node_hour", [0, 1000], [-1], ON_NODES),
    fleet_option("alarms.idle_usd_per_hour", [0, 1000], [-1], ON_NODES),
    fleet_option("alarms.wakes", [True, False], ["sometimes"]),
    fleet_option(
        "alarms.each",
        [{}, {"LowUtilization": {"minutes": 30, "severity": "ticket"}}, {"HbmPressure": {"severity": "none"}}],
        [{"LowUtilisation": {"minutes": 30}}, {"LowUtilization": {"minutes": 0}}, {"JobHang": {"severity": "loud"}}],
        ON_NODES,
    ),
    fleet_option("alarms.without_job_minutes", [5, 10080], [4, 10081], ON_NODES),
    fleet_option("alarms.hbm_percent", [1, 100], [0], ON_NODES),
    fleet_option("engine", ["batch"], ["slurm"], ("batch", "reservation", "block")),
    fleet_option("engine", ["pool"], (), ("batch", "reservation")),
    fleet_option("pool.drain_minutes", [1, 60], [0, 61], ("pool",)),
    fleet_option("pool.idle_minutes", [0, 1440], [1441], ("pool",)),
    fleet_option("pool.start_minutes", [5, 120], [4], ("pool",)),
    fleet_option("pool.replace_percent", [1, 50], [51], ("pool",)),
    fleet_option("pool", [], [{}], ("batch",)),
    fleet_option("longest_job_hours", [1, 4368], [0, 4369], TRAINS),
    fleet_option("job_attempts", [1, 10], [11, 100, 101], TRAINS),
    fleet_option(
        "shares",
        [{"ml": 2}, {"team one": 0.01, "b": 100}],
        [{"a-b": 1, "ab": 2}, {"ü": 1, "ö": 2}, {"a": 0}, {"x" * 300: 1}, {f"o{n}": 1 for n in range(600)}],
        ("batch", "reservation", "block"),
    ),
    fleet_option(
        "reads", [["s3://data-bucket/a!_.'()-b"]], [["s3://d/x"], ["s3://Data/x"], ["s3://data-bucket/a*"]], TRAINS
    ),
    fleet_option(
        "reads",
        [["s3://data-bucket"], ["s3://data.bucket/a/(b)'c"]],
        [[f"s3://bucket-{n}/" + "x" * 880 for n in range(10)]],
        TRAINS,
    ),
    fleet_option(
        "writes",
        [["s3://results/x"], ["s3://results", "s3://data-bucket/"]],
        [["results"], [f"s3://bucket-{n}/" + "y" * 880 for n in range(10)]],
        TRAINS,
    ),
    fleet_option("container_image", ["training:local", f"{REGISTRY}/training:dev"], ["", "A B", "x" * 300], TRAINS),
    fleet_option(
        "instance_type",
        ["trn1n.32xlarge", "trn1.32xlarge"],
        ["trn1.2xlarge", "trn2u.48xlarge", "inf2.xlarge", "m5.large"],
        ("batch", "pool", "reservation"),
    ),
    fleet_option("market.kind", ["on-demand"], ["spot", "capacity-block"], ("batch", "pool")),
    fleet_option("market.instances", [3, 5], [1], ("reservation", "block")),
    fleet_option(
        "market.end_date", ["2026-12-18T11:30:00Z", "2027-01-01T00:00:00+14:00"], ["2026-12-18"], ("reservation",)
    ),
    fleet_option("market.reservation_id", [], ["cr-0a1b2c3d4e5f60718", "cr-x"], ("reservation", "block")),
    fleet_option(
        "market.resource_group", [GROUP], ["arn:aws:resource-groups:us-west-2:111122225555:group/a"], ("reservation",)
    ),
    fleet_option("market.resource_group", [], [GROUP], ("block",)),
    fleet_option("market.placement_group", [], ["pg"], ("reservation",)),
    fleet_option(
        "market",
        [{"kind": "reservation", "reservation_id": "cr-0a1b2c3d4e5f60718", "placement_group": "my pg"}],
        [{"kind": "reservation", "reservation_id": "cr-0a1b2c3d4e5f60718", "placement_group": "ü${X}" * 50}],
        ("reservation",),
    ),
    fleet_option("market.starts_at", ["2026-12-11T11:30:00Z"], ["2027-12-01T11:30:00Z"], ("block",)),
)
