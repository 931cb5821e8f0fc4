"""Answers of the real service, made wrong by chance, through the client and through the app."""
