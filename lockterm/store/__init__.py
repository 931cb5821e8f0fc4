"""The local store of lockterm: lock book, journal, runs, drafts and cache."""
