"""sendonce finds where one business event can send the same e-mail twice, by reading the code.

Start reading at `sendonce.run`.
"""

__version__ = "0.1.0"
