"""What runs inside a training container, beside the training itself: nothing here needs a framework."""
