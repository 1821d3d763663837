"""Custom backends: any callable (graph, example_inputs) -> callable."""

from ._graph import Graph, RunOriginal


def call(backend, description, runner, example_inputs):
    graph = Graph(description, runner)
    compiled = backend(graph, example_inputs)
    if not callable(compiled):
        raise TypeError(f"backend {backend!r} returned {compiled!r}, which is not callable")

    def compiled_fn(*inputs):
        try:
            outputs = compiled(*inputs)
        except RunOriginal as request:
            return request.answer
        outputs = tuple(outputs) if isinstance(outputs, (tuple, list)) else (outputs,)
        if len(outputs) != len(graph.outputs):
            raise TypeError(f"what backend {backend!r} made gave {len(outputs)} outputs for a graph of {len(graph.outputs)}")
        return outputs

    return compiled_fn
