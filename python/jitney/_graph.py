"""The graph as Python sees it: what a custom backend gets and `inspect(f).graph()` returns."""


class Node:
    """One value of a graph.

    op      "placeholder", "constant" or "call"
    target  name of the operation, under `numpy` where there is one of that name
    args    operand nodes
    dtype   element type as text
    shape   tuple of ints and of names of size symbols
    kind    "array", "numpy scalar", "float", "int" or "bool"
    value   of a constant
    users   nodes that read this one
    file, line  of the user's code
    """

    __slots__ = ("args", "dtype", "file", "index", "kind", "line", "op", "shape", "target", "users", "value")

    def __init__(self, row):
        for name in ("dtype", "file", "index", "kind", "line", "op", "shape", "target", "value"):
            setattr(self, name, row[name])
        self.args = ()
        self.users = []

    @property
    def name(self):
        return f"%{self.index}"

    def __repr__(self):
        return f"<{self.name} {self.target} {self.dtype}{list(self.shape)}>"


class RunOriginal(BaseException):
    """A graph met something that only the original can report, such as a floating-point warning; `answer` tells entry so."""

    def __init__(self, answer):
        super().__init__(answer)
        self.answer = answer


class Graph:
    """nodes, outputs, `code` (as Python source), `print_tabular()`; calling it runs it node by node through NumPy."""

    def __init__(self, description, runner=None):
        self.name = description["name"]
        self.nodes = [Node(row) for row in description["nodes"]]
        for node, row in zip(self.nodes, description["nodes"]):
            node.args = tuple(self.nodes[k] for k in row["args"])
            for arg in dict.fromkeys(node.args):
                arg.users.append(node)
        self.outputs = [self.nodes[k] for k in description["outputs"]]
        self.code = description["code"]
        self._table, self._text, self._runner = description["table"], description["text"], runner

    def print_tabular(self, file=None):
        print(self._table, end="", file=file)

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"<jitney.Graph {self.name}: {len(self.nodes)} nodes>"

    def __call__(self, *inputs):
        """Runs the graph on the given inputs (one per placeholder); returns the tuple of outputs."""
        if self._runner is None:
            raise TypeError("this graph is a description only; a backend's graph can be called")
        outputs = self._runner(*inputs)
        if not isinstance(outputs, tuple):
            raise RunOriginal(outputs)
        return outputs
