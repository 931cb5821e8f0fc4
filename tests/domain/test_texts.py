"""The document of all texts: it is current, and complete."""

from __future__ import annotations

from tests.texts import DOCUMENT, find_unrendered, render


def test_document_of_texts_is_current() -> None:
    """After a change of words: ``python -m tests.texts``, and read what has changed."""
    assert render() == DOCUMENT.read_text("utf-8")


def test_document_shows_every_function_that_returns_words() -> None:
    assert find_unrendered() == []
