"""What lockterm keeps on this machine."""
