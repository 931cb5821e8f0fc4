"""What is done with marked remotes, on whichever screen they were marked."""
