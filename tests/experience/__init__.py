"""What people expect of lockterm, point by point: fifteen tests, each named after its point."""
