"""`ast` → facts: ten times faster than libcst, for files that the running interpreter can read."""
