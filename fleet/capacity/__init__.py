"""The capacity compiler: from a ``FleetSpec`` to a ``LaunchPlan``, or to the reasons why not.

``compile_fleet`` gives the plan, ``diagnose_fleet`` all that is to be said about a spec, ``ladder`` the plans to try in
order where the first finds no capacity, ``other_types`` those of them in the fleet's own zones, ``quotas_needed`` what
EC2 must allow the account. No I/O, and no clock: what depends on today's date is asked with ``now``.
"""

from fleet.capacity.network_interfaces import InterfaceType, NetworkInterface, network_interfaces
from fleet.capacity.plan import FleetRefusedError, LaunchPlan, compile_fleet, ladder, other_types
from fleet.capacity.quotas import QuotaNeed, quotas_needed
from fleet.capacity.rules import diagnose_fleet

__all__ = [
    "FleetRefusedError",
    "InterfaceType",
    "LaunchPlan",
    "NetworkInterface",
    "QuotaNeed",
    "compile_fleet",
    "diagnose_fleet",
    "ladder",
    "network_interfaces",
    "other_types",
    "quotas_needed",
]
