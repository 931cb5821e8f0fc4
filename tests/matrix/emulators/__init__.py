"""lockterm in real terminal emulators, each in a window of its own, seen as pixels."""
