"""How long a key takes while something goes wrong, in a real terminal."""
