"""The main job on every terminal that matters, each screen read back as a person would."""
