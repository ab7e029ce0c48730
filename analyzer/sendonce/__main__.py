"""`python -m sendonce`."""

from sendonce.cli import main

if __name__ == "__main__":
    main()
