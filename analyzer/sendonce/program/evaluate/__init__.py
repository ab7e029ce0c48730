"""What symbolic values stand for: names, attributes, items, types, returned values and shapes."""

from sendonce.program.evaluate.evaluator import Evaluator, Flow

__all__ = ["Evaluator", "Flow"]
