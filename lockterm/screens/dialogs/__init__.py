"""The dialogs that ask a question over a screen."""
