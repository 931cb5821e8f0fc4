"""The screens and dialogs. They ask ``operations`` and paint; they do no HTTP and no SQL."""
