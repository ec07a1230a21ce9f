"""Whether a model fits an instance: bytes by part, parallel degrees, head-room, and what that costs an hour."""
