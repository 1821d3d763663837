"""Custom backends: any callable (graph, example_inputs) -> callable."""

from ._graph import Graph


def call(backend, description, runner, example_inputs):
    compiled = backend(Graph(description, runner), example_inputs)
    if not callable(compiled):
        raise TypeError(f"backend {backend!r} returned {compiled!r}, which is not callable")

    def compiled_fn(*inputs):
        outputs = compiled(*inputs)
        return tuple(outputs) if isinstance(outputs, (tuple, list)) else (outputs,)

    return compiled_fn
