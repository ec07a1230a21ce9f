"""Going from a released version to this one: the released tree, its templates, its agents, and what an update does."""
