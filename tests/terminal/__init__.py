"""lockterm in real pseudo-terminals."""
