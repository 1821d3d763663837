"""Whole-program mode: `jitney.enable()`."""

import os
import site
import sysconfig

from . import _jitney


def _prefixes(folders):
    return tuple(sorted({os.path.join(folder, "") for folder in folders if folder}))


def _library_folders():
    paths = sysconfig.get_paths()
    folders = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    folders += [site.getusersitepackages(), *site.getsitepackages(), os.path.dirname(__file__)]
    return folders + [os.path.realpath(folder) for folder in folders]


class Enabled:
    """Whole-program mode while it is on: leave it on, call `stop()`, or use it as a context manager."""

    def __init__(self, was_on):
        self._was_on = was_on

    def stop(self):
        """Looks for nothing any more; the functions that were found are plain again."""
        _jitney.whole_stop()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if not self._was_on:
            self.stop()

    @property
    def stats(self):
        """A dict: `seen` code objects looked at, functions `found` to be hot, `kept` compiled, `left` plain since compiling
        them gained nothing; `functions`, a list of those kept."""
        return {name: value for name, value in _jitney.whole_stats().items() if name != "on"}

    def __repr__(self):
        stats = _jitney.whole_stats()
        return f"<jitney whole-program mode, {'on' if stats['on'] else 'off'}: {len(stats['functions'])} functions compiled>"


def enable(*, include=()):
    """Finds hot functions of the program and compiles them where they are, without decorators. Off by default.

    include   names of modules and packages, or folders, of the standard library and site-packages that shall be compiled as well;
              they are skipped otherwise

    Returns an object with `stop()` and `stats` that is a context manager: `with jitney.enable(): main()`.
    A function stays compiled only if timed calls show that it gains from it. Generators, coroutines, class bodies and module
    code are never taken. `jitney.config.hot_calls` says how many calls make a function hot.
    """
    if isinstance(include, str):
        raise TypeError("include is a sequence of names, not one string")
    libraries = _prefixes(_library_folders())
    taken = set()
    for name in include:
        places = [name] if os.path.isabs(name) else [folder + name.replace(".", os.sep) for folder in libraries]
        taken.update(end for place in places for end in (os.path.join(place, ""), place + ".py"))
    stats = _jitney.whole_stats()
    was_on = stats is not None and stats["on"]
    _jitney.whole_start(libraries + ("<frozen ",), tuple(sorted(taken)))
    return Enabled(was_on)
