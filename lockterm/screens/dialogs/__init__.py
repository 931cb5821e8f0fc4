"""The dialogs that ask the user a question on top of a screen."""
