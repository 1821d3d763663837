"""Graphs as text for the hooks of _jitney: placeholders described after real arguments, one line per operation."""

import numpy as np


def layout(array):
    """How the elements of an array argument lie in memory, as the text form says it."""
    if array.ndim == 0:
        return ""
    movable = [d for d in range(array.ndim) if array.shape[d] != 1 and array.strides[d] != 0]
    by_stride = iter(sorted(movable, key=lambda d: -abs(array.strides[d])))
    order = [next(by_stride) if d in movable else d for d in range(array.ndim)]
    step, contiguous = array.itemsize, True
    for d in reversed(order):
        contiguous = contiguous and (array.shape[d] == 1 or array.strides[d] == step)
        step *= array.shape[d]
    fact = "; contiguous" if contiguous else "; unit" if array.strides[order[-1]] == array.itemsize else ""
    return f" layout({','.join(map(str, order))}{fact}; strides {','.join(map(str, array.strides))})"


def type_text(value):
    if isinstance(value, np.ndarray):
        return f"{value.dtype}[{','.join(map(str, value.shape))}]"
    if isinstance(value, np.generic):
        return str(value.dtype)
    return {float: "pyfloat", int: "pyint", bool: "pybool"}[type(value)]


def graph(inputs, operations, outputs, file="program.py"):
    """Node k < len(inputs) is input k; operation k is node len(inputs)+k and stands on line k+2."""
    lines = ["graph f () :"]
    for k, value in enumerate(inputs):
        where = layout(value) if isinstance(value, np.ndarray) else ""
        lines.append(f'  %{k} = placeholder[{k}] : {type_text(value)}{where} @1 "{file}"')
    for k, operation in enumerate(operations):
        lines.append(f"  %{len(inputs) + k} = {operation} @{k + 2}")
    lines.append(f"  output ({', '.join(f'%{k}' for k in outputs)})")
    return "\n".join(lines) + "\n"
