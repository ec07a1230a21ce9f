"""A LoRA fine-tune, validated on the cores that it leaves."""
