"""The embedded service: the whole contract over HTTP and SQLite, and nothing else of lockterm."""
