"""What pyproject.toml cannot say: a folder that is none of the packages goes into one of them."""

from setuptools import find_namespace_packages, setup

# As environments/documents.py looks for them. A package `docs` of its own would meet those of other projects.
DOCUMENTS = {"environments.docs": "docs", "environments.docs.runbooks": "docs/runbooks"}
ROOMS = ("fleet", "environments", "stacks", "dashboards", "agents", "lambdas", "cli", "local")

setup(
    packages=[
        *find_namespace_packages(include=[f"{room}{below}" for room in ROOMS for below in ("", ".*")]),
        *DOCUMENTS,
    ],
    package_dir=DOCUMENTS,
    package_data={
        "": ["*.json", "*.yaml", "*.lock", "*.txt", "*.sh", "*.service", "*.rules", "*.html", "*.css", "*.js"]
    }
    | {"environments.docs": ["source-figures.yaml"], "environments.docs.runbooks": ["*.md"]},
    # Else whatever else a source distribution holds of docs/ would come along.
    include_package_data=False,
    exclude_package_data={"": ["__pycache__/*"]},
)
