"""The analysed program: symbols, values, call graph, and the paths from triggers to sends."""
