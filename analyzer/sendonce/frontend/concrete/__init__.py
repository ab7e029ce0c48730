"""libcst → facts: reads the syntax of every Python 3 on any interpreter."""
