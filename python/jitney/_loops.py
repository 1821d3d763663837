"""The loops of a compiled function, one record each: what `jitney.explain(f)(...).loops` lists."""

import dataclasses
import os


@dataclasses.dataclass(frozen=True)
class Exit:
    """A place where native code was left for the interpreter.

    file, line   of the program
    kind         "check": the fast case did not hold; "stop": an instruction that native loops do not have; "poll": the
                 interpreter had something to do; "call": a function that was called was left
    what         which check, which instruction: "index", "int overflow", ...
    count        times
    values       the numbers that the frame held the last time, as text: "i=7 s=0.5", stack items as "stack[0]=7"; "" where
                 they are not kept (polls, functions that are native code of their own)
    """

    file: str
    line: int
    kind: str
    what: str
    count: int
    values: str

    def text(self):
        """As the log `exits` says it: file:line: kind: what."""
        return f"{self.file}:{self.line}: {self.kind}{f': {self.what}' if self.what else ''}"


@dataclasses.dataclass(frozen=True)
class Why:
    """A named reason. `name` is a row of graph/loop_whys.def (why a native loop is not vectorised) or of frontend/breaks.def (why a
    loop is not native, docs/breaks.md).

    name, what   the reason, and in words
    detail       which check, function or instruction, or ""
    hint         what to do
    file, line   where; line 0: the loop as a whole
    """

    name: str
    what: str
    detail: str
    hint: str
    file: str
    line: int


@dataclasses.dataclass(frozen=True)
class Loop:
    """A loop of the function, or of a function that was inlined into it or is called by its native code; or such a function itself.

    file, line, last_line
                 where it stands: the line of `for` or `while`, the last line of its body
    function     name of the function that it stands in
    kind         "for", "while", "comprehension"; "function": native code of its own, which native loops call
    depth        how many records around it
    state        "native"    machine code goes round it
                 "unrolled"  walked through while compiling: its rounds are operations of a graph
                 "per body"  the body is compiled in pieces, as something in it stops them; CPython goes round
                 "left"      runs in CPython
                 "not met"   no way through the compiled code came to it
    reason       Why it is "per body" or "left"; None
    rounds       "unrolled": how many were walked through; else None
    vectorised   whether the machine code works on several rounds at once; None: it is no native loop, or is run by a slow executor
    lanes        how many rounds at once; 1: not vectorised
    why          Why it is not vectorised; None
    counted      the number of rounds is known when it begins, so that checks can be proven for all of them
    checks_proven, checks_hoisted, checks_noted, checks_left
                 of the checks in its own body (index, overflow, zero divisor, warnings), how many hold in every call; are made
                 in front of the rounds; are noted by rounds and asked for once for many of them; are a comparison and a
                 branch of each round
    threads      of a jitney.prange: "3 times on threads", or why it stays on one; None
    recursive    of a "function": it calls itself
    exits        list of Exit in its own lines
    """

    file: str
    line: int
    last_line: int
    function: str
    kind: str
    depth: int
    state: str
    reason: Why | None = None
    rounds: int | None = None
    vectorised: bool | None = None
    lanes: int = 1
    why: Why | None = None
    counted: bool = False
    checks_proven: int = 0
    checks_hoisted: int = 0
    checks_noted: int = 0
    checks_left: int = 0
    threads: str | None = None
    recursive: bool = False
    exits: tuple = ()

    def __str__(self):
        return " ".join(filter(None, self._cells()))

    def _cells(self):
        """Texts: place, kind, state, vectors, checks."""
        place = f"{os.path.basename(self.file)}:{self.line}"
        kind = "  " * self.depth + (f"def {self.function}" if self.kind == "function" else self.kind)
        return [place, kind, self._state(), self._vectors(), self._checks()]

    def _state(self):
        if self.kind == "function":
            return "native, calls itself" if self.recursive else "native"
        if self.state == "unrolled":
            return f"unrolled, {self.rounds} round{'s'[: self.rounds != 1]}"
        return f"{self.state}: {self.reason.name}" if self.reason else self.state

    def _vectors(self):
        if self.vectorised:
            return f"vectorised, {self.lanes} at once"
        return f"scalar: {self.why.name}" if self.why else ""

    def _checks(self):
        numbers = (self.checks_proven, "proven"), (self.checks_hoisted, "hoisted"), (self.checks_noted, "noted"), (self.checks_left, "left")
        text = ", ".join(f"{n} {word}" for n, word in numbers if n)
        return f"checks: {text}" if text else ""


def _key(row):
    return row["file"], row["function"], row["first_line"]


def _holds(row, exit):
    return exit["file"] == row["file"] and row["line"] <= exit["line"] <= row["last_line"]


FOLLOW = "NOTHING_TO_COMPILE", "LOOP_UNDER_WAY"  # from other reasons


class _Finder:
    """From what `_jitney.inspect` says to records, in the order of the program."""

    def __init__(self, data):
        code = data["function"].__code__
        self._own = code.co_filename, code.co_name, code.co_firstlineno
        self._rows = data["code_loops"]
        self._entries = data["entries"] + data["resumed"]
        self._refusals = data["refusals"] or []
        self._flows = [entry for entry in self._entries if entry.get("kind") == "loops"]
        self._found = []

    def find(self):
        reports = [self._in_order(flow) for flow in self._flows]
        used = set()
        for row in self._rows:
            same = [(f, k, r) for f, rows in enumerate(reports) for k, r in enumerate(rows) if self._is_of(row, r)]
            used.update((f, k) for f, k, _ in same)
            best = max((r for _, _, r in same), key=lambda r: (r["round"], r["vectors"], r["fast"]), default=None)
            depth = self._depth(row)
            if best is not None and best["round"]:
                self._found.append((row, self._native(best, depth)))
            else:
                self._found.append((row, self._other(row, depth)))
            for f, _, r in same:
                self._inner(reports[f], r, depth, used, f)
        for f, rows in enumerate(reports):
            for k, r in enumerate(rows):
                if (f, k) not in used and r["parent"] is None:
                    self._add(rows, r, 0, used, f)
        return self._with_exits()

    @staticmethod
    def _in_order(flow):
        rows = [dict(row, number=k) for k, row in enumerate(flow["reports"])]
        for row in rows:
            row["parent"] = row["around"]
        return rows

    @staticmethod
    def _is_of(row, report):
        return report["kind"] != "function" and _key(row) == _key(report) and row["offset"] == report["offset"]

    def _depth(self, row):
        depth = 0
        while row["around"] is not None:
            row = self._rows[row["around"]]
            depth += 1
        return depth

    def _inner(self, rows, around, depth, used, flow):
        """Records of what is called in it."""
        own = {_key(row) for row in self._rows}
        for k, r in enumerate(rows):
            if r["parent"] == around["number"] and (flow, k) not in used and (r["kind"] == "function" or _key(r) not in own):
                self._add(rows, r, depth + 1, used, flow)

    def _add(self, rows, r, depth, used, flow):
        used.add((flow, r["number"]))
        place = r["file"], r["line"], r["function"], r["kind"]
        if not any((old["file"], old["line"], old["function"], old["kind"]) == place for old, _ in self._found):
            self._found.append((r, self._native(r, depth)))
        for k, inner in enumerate(rows):
            if inner["parent"] == r["number"] and (flow, k) not in used:
                self._add(rows, inner, depth + 1, used, flow)

    def _native(self, r, depth):
        proven, hoisted, noted, left = r["checks"]
        is_loop = r["kind"] != "function"
        vectorised = r["vectors"] > 1 if is_loop and r["vectors"] >= 0 else None
        return Loop(
            r["file"], r["line"], r["last_line"], r["function"], r["kind"], depth, "native" if r["round"] or not is_loop else "left",
            vectorised=vectorised, lanes=max(r["vectors"], 1), why=self._why(r) if vectorised is False else None, counted=r["counted"],
            checks_proven=proven, checks_hoisted=hoisted, checks_noted=noted, checks_left=left, threads=self._threads(r), recursive=r["recursive"],
        )

    @staticmethod
    def _why(r):
        if r["why"] is None:
            return None
        name, what, hint, detail, line = r["why"]
        return Why(name, what, detail or "", hint, r["file"], line)

    def _threads(self, r):
        for flow in self._flows:
            for line, why, runs, undone in flow["pranges"]:
                if line == r["line"] and r["kind"] == "for":
                    return f"on one thread: {why}" if why else f"{runs} time{'s'[: runs != 1]} on threads{f', {undone} undone' * (undone != 0)}"
        return None

    def _other(self, row, depth):
        """The record of a loop that no machine code goes round."""
        place = row["file"], row["line"], row["last_line"], row["function"], row["kind"], depth
        own = _key(row) == self._own
        extents = [entry["extent"] for entry in self._entries if entry.get("kind") != "loops"]
        inside = [e for e in extents if own and (row["offset"] < e["start"] <= row["end"] or row["offset"] <= e.get("stop", -1) <= row["end"])]
        stops = [e for e in inside if row["offset"] <= e.get("stop", -1) <= row["end"] and e["name"] != "NATIVE_LOOP"]
        if any(row["offset"] < e["start"] <= row["end"] or row["offset"] < e.get("stop", -1) for e in inside):
            causes = [e for e in stops if e["name"] not in FOLLOW]
            return Loop(*place, "per body", reason=self._stop(row, causes) or self._refusal(row, causes=True) or self._stop(row, stops) or self._refusal(row))
        rounds = [u["rounds"] for entry in self._entries for u in entry.get("unrolled", ()) if self._is_head(row, u)]
        if rounds:
            return Loop(*place, "unrolled", rounds=max(rounds))
        reason = self._refusal(row, causes=True) or self._native_stop(row) or self._stop(row, stops) or self._refusal(row)
        if reason is None and any(own and e["start"] <= row["offset"] <= e.get("stop", row["end"]) for e in extents):
            return Loop(*place, "not met")
        return Loop(*place, "left", reason=reason or self._any_refusal())

    def _is_head(self, row, unrolled):
        """A `while` has two heads."""
        if _key(unrolled) != _key(row):
            return False
        others = {r["offset"] for r in self._rows if r is not row and _key(r) == _key(row)}
        inside = row["offset"] <= unrolled["offset"] <= row["end"] and unrolled["offset"] not in others
        return unrolled["offset"] == row["offset"] or (row["kind"] == "while" and inside)

    @staticmethod
    def _stop(row, stops):
        if not stops:
            return None
        stop = stops[0]
        return Why(stop["name"], stop["what"], stop["detail"] or "", stop["hint"] or "", row["file"], stop["stop_line"])

    def _refusal(self, row, causes=False):
        """The first reason with a line in the loop; `causes`: but not one that follows from others."""
        fits = [r for r in self._refusals if r["file"] == row["file"] and row["line"] <= r["line"] <= row["last_line"] and r["name"] != "NATIVE_LOOP"]
        fits.sort(key=lambda r: r["name"] in FOLLOW)
        fits = [r for r in fits if not (causes and r["name"] in FOLLOW)]
        return self._why_of(fits[0]) if fits else None

    def _any_refusal(self):
        return self._why_of(self._refusals[0]) if self._refusals else None

    @staticmethod
    def _why_of(r):
        return Why(r["name"], r["what"], r["detail"], r["hint"], r["file"], r["line"])

    def _native_stop(self, row):
        """Machine code that begins elsewhere ends in it."""
        for flow in self._flows:
            for exit in flow["exit_rows"]:
                if exit["kind"] == "stop" and _holds(row, exit):
                    return Why("NO_LOOP", "no loop that becomes a native one", exit["what"] or "", "see which instruction stands in the way; compute with numbers, arrays and lists of numbers there", exit["file"], exit["line"])
        return None

    def _with_exits(self):
        exits = {}
        for flow in self._flows:
            for e in flow["exit_rows"]:
                if e["count"] and e["kind"] != "return":
                    holders = [(loop.kind != "function", -(loop.last_line - loop.line), loop.depth, k) for k, (row, loop) in enumerate(self._found) if _holds(row, e)]
                    if holders:
                        exits.setdefault(max(holders)[-1], []).append(Exit(e["file"], e["line"], e["kind"], e["what"] or "", e["count"], e["values"].strip()))
        return [dataclasses.replace(loop, exits=tuple(exits.get(k, ()))) for k, (_, loop) in enumerate(self._found)]


def find(data):
    """List of Loop, in the order of the program; `data` is what `_jitney.inspect` gives."""
    return _Finder(data).find()


MOST_VALUES = 100  # characters


def lines(loops):
    """The table of a report: a line per loop, its exits below it, and each reason once at the end."""
    rows = [loop._cells() for loop in loops]
    widths = [max(map(len, column)) for column in zip(*rows)]
    out = ["  loops:"] if rows else []
    for loop, row in zip(loops, rows):
        out.append("    " + "  ".join(text.ljust(width) for text, width in zip(row, widths) if width).rstrip())
        out += [f"      {text}" for text in _below(loop)]
    return out + _reasons(loops)


def _shortened(values):
    """What the instruction works on, then the variables that come last: those of inner loops."""
    words = values.split()
    stack = [word for word in words if word.startswith("stack[")]
    names, room = [], MOST_VALUES - len(" ".join(stack))
    for word in reversed(words[len(stack) :]):
        room -= len(word) + 1
        if room < 0:
            names.insert(0, "...")
            break
        names.insert(0, word)
    return " ".join(stack + names)


def _below(loop):
    out = [f"prange in line {loop.line}: {loop.threads}"] if loop.threads else []
    for exit in loop.exits:
        values = _shortened(exit.values)
        what = f": {exit.what}" if exit.what else ""
        out.append(f"left {exit.count} time{'s'[: exit.count != 1]} in line {exit.line}: {exit.kind}{what}{f'; the last time {values}' if values else ''}")
    return out


def _reasons(loops):
    seen, out = set(), []
    for loop in loops:
        for why in (loop.reason, loop.why):
            if why is None or why in seen:
                continue
            seen.add(why)
            place = f" (line {why.line}{f', {why.detail}' if why.detail else ''})" if why.line else f" ({why.detail})" if why.detail else ""
            out.append((why.name, why.what, place, why.hint))
    merged = {}
    for name, what, place, hint in out:
        merged.setdefault((name, what, hint), []).append(place)
    text = []
    for (name, what, hint), places in merged.items():
        text.append(f"    {name}: {what}{''.join(dict.fromkeys(places))}")
        if hint and not hint.startswith("nothing"):
            text.append(f"      hint: {hint}")
    return text
