"""Keys on their way: in their order, each to what it was typed for, and when none is taken."""
