"""Runs functions of loops eager and compiled on the same calls, and says where they differ first: result, types, bits, identities, arguments afterwards, warnings with their lines,
exception, lines and locals of its traceback.

A program is source text, of which one module is made for each side; on the compiled side every function is compiled, as if it were decorated. Arguments come from a function that
makes them anew for each side."""

import linecache
import types
import warnings

import function_source
from random_loops import NumberPicture, unlike

import jitney

FILE = function_source.FILE  # the code whose frames Picture looks into
LEFT_ALONE = ("setup",)


class Program:
    """names: of the module. The same functions are called again and again: an earlier call's entries meet a later call's arguments."""

    def __init__(self, source, main, before=None, **options):
        linecache.cache[FILE] = (len(source), None, source.splitlines(True), FILE)
        self.main, self.code = main, compile(source, FILE, "exec")
        self.eager, self.ours = (self.module(before) for _ in range(2))
        for name, value in list(self.ours.items()):
            if type(value) is types.FunctionType and value.__module__ == "__loops__" and name not in LEFT_ALONE:
                self.ours[name] = jitney.compile(value, **options)

    def module(self, before):
        names = {"__name__": "__loops__", **(before or {})}
        exec(self.code, names)
        return names

    def difference(self, make):
        """A sentence, or None. make: takes the names of a module, gives a tuple of arguments."""
        return unlike(outcome(self.eager, self.main, make), outcome(self.ours, self.main, make))

    def stats(self):
        """Sums over the functions."""
        sums = {}
        for value in filter(jitney.is_compiled, self.ours.values()):
            for key, number in jitney.inspect(value).stats().items():
                if type(number) is int:
                    sums[key] = sums.get(key, 0) + number
        return sums


def outcome(names, main, make):
    """The picture of a call and of what it leaves."""
    arguments = make(names)
    result = error = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = names[main](*arguments)
        except Exception as raised:
            error = raised
    picture = NumberPicture()
    return (
        ("exception", None if error is None else type(error).__name__, None if error is None else str(error)),
        ("result", picture.of(result)),
        ("warnings", [(w.category.__name__, str(w.message), w.filename, w.lineno) for w in caught]),
        ("arguments", picture.of(tuple(map(plain, arguments)))),
        ("traceback", None if isinstance(error, RecursionError) else picture.of(error)),
        ("lines", recursion_lines(error) if isinstance(error, RecursionError) else None),
    )


def plain(argument):
    """What a picture can compare of an argument."""
    if callable(argument) and not isinstance(argument, type):  # compiled or not
        return argument.__name__
    bits = getattr(argument, "bit_generator", None)
    return argument if bits is None else repr(bits.state)


def recursion_lines(error):
    """The lines that a RecursionError went through, without the innermost one: how much stands on the stack decides that."""
    lines, where = [], error.__traceback__
    while where is not None:
        lines.append((where.tb_frame.f_code.co_name, where.tb_lineno))
        where = where.tb_next
    return sorted(set(lines[1:-1]))
