"""What a month may cost, what it comes to at the present rate, what is done about it, and what a day wasted."""
