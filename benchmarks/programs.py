"""Programs without an array: what a compiler for arrays must leave as fast as it found it.

    python programs.py NAME SECONDS    warms up, then prints the seconds of processor time of each round"""

import json
import re
import sys
from time import process_time

# -- tasks of an operating system, in the manner of richards: method calls, attributes, linked lists ---------------------------------


class Packet:
    def __init__(self, kind, data, link=None):
        self.kind, self.data, self.link = kind, data, link


class Task:
    def __init__(self, scheduler, priority):
        self.scheduler, self.priority, self.queue, self.waiting, self.done = scheduler, priority, None, False, 0

    def receive(self, packet):
        packet.link = None
        if self.queue is None:
            self.queue = packet
        else:
            last = self.queue
            while last.link is not None:
                last = last.link
            last.link = packet
        self.waiting = False

    def take(self):
        packet, self.queue = self.queue, self.queue.link
        return packet

    def runnable(self):
        return not self.waiting

    def step(self):
        if self.queue is None:
            self.waiting = True
            return
        packet = self.take()
        self.done += 1
        self.handle(packet)


class Worker(Task):
    def handle(self, packet):
        packet.data = [(value * 7 + self.priority) % 26 for value in packet.data]
        self.scheduler.send(1 - packet.kind, packet)


class Handler(Task):
    def handle(self, packet):
        if sum(packet.data) % 5 == 0:
            packet.data.reverse()
        self.scheduler.send(packet.kind + 1 if packet.kind == 0 else 0, packet)


class Scheduler:
    def __init__(self):
        self.tasks = [Worker(self, 10), Handler(self, 20), Worker(self, 30)]
        self.held = 0

    def send(self, kind, packet):
        packet.kind = kind
        self.tasks[(kind + packet.data[0]) % len(self.tasks)].receive(packet)

    def run(self, steps):
        for _ in range(steps):
            best = None
            for task in self.tasks:
                if task.runnable() and (best is None or task.priority > best.priority or best.queue is None):
                    best = task
            if best is None:
                self.held += 1
                self.send(0, Packet(0, [self.held, 2, 3, 4]))
            else:
                best.step()
        return [task.done for task in self.tasks]


def tasks():
    scheduler = Scheduler()
    for k in range(5):
        scheduler.send(k % 2, Packet(k % 2, [k, k + 1, k + 2, k + 3]))
    return scheduler.run(3000)


# -- one-way constraints, in the manner of deltablue: inheritance, strengths, work lists ----------------------------------------------


class Variable:
    def __init__(self, value):
        self.value, self.constraints, self.determined_by, self.strength, self.mark = value, [], None, 9, 0


class Constraint:
    def __init__(self, strength, *variables):
        self.strength, self.variables = strength, variables
        for variable in variables:
            variable.constraints.append(self)

    def output(self):
        return self.variables[-1]

    def satisfy(self, mark):
        out = self.output()
        if out.determined_by is not None and out.strength < self.strength:
            return False
        out.determined_by, out.strength, out.mark = self, self.strength, mark
        return True


class Edit(Constraint):
    def execute(self):
        pass


class Equal(Constraint):
    def execute(self):
        self.output().value = self.variables[0].value


class Scale(Constraint):
    def execute(self):
        source, factor, offset, out = self.variables
        out.value = source.value * factor.value + offset.value


class Planner:
    def __init__(self):
        self.mark = 0

    def plan(self, sources):
        self.mark += 1
        todo, plan = list(sources), []
        while todo:
            constraint = todo.pop()
            if constraint.satisfy(self.mark):
                plan.append(constraint)
                for other in constraint.output().constraints:
                    if other is not constraint and other.output().mark != self.mark:
                        todo.append(other)
        return plan

    def change(self, variable, values):
        edit = Edit(0, variable)
        plan = self.plan([edit])
        for value in values:
            variable.value = value
            for constraint in plan:
                constraint.execute()
        variable.constraints.remove(edit)
        variable.determined_by = None


def constraints():
    chain = [Variable(0) for _ in range(60)]
    for before, after in zip(chain, chain[1:]):
        Equal(2, before, after)
    scale, offset, result = Variable(3), Variable(5), Variable(0)
    Scale(1, chain[-1], scale, offset, result)
    planner, total = Planner(), 0
    for _ in range(4):
        planner.change(chain[0], range(40))
        for variable in (*chain, result):
            variable.determined_by = None
        total += result.value
    return total


# -- a reader and a writer of JSON in Python, and the library's: strings, dictionaries, recursion --------------------------------------


class Reader:
    def __init__(self, text):
        self.text, self.at = text, 0

    def skip(self):
        while self.text[self.at] in " \n\t":
            self.at += 1

    def value(self):
        self.skip()
        first = self.text[self.at]
        if first == "{":
            return dict(self.items("}", self.pair))
        if first == "[":
            return list(self.items("]", self.value))
        if first == '"':
            return self.string()
        return self.atom()

    def items(self, end, item):
        found = []
        self.at += 1
        self.skip()
        while self.text[self.at] != end:
            found.append(item())
            self.skip()
            if self.text[self.at] == ",":
                self.at += 1
                self.skip()
        self.at += 1
        return found

    def pair(self):
        key = self.string()
        self.skip()
        self.at += 1
        return key, self.value()

    def string(self):
        start = self.at + 1
        end = self.text.index('"', start)
        self.at = end + 1
        return self.text[start:end]

    def atom(self):
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in ",]} \n":
            self.at += 1
        word = self.text[start : self.at]
        if word in ("true", "false", "null"):
            return {"true": True, "false": False, "null": None}[word]
        return float(word) if "." in word else int(word)


def write(value):
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return '"' + value + '"'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{write(k)}: {write(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(write(v) for v in value) + "]"
    return repr(value)


def documents():
    document = {f"key{k}": [k, k * 0.5, "text" * (k % 4), None, {"nested": [True, False, k]}] for k in range(60)}
    text = write(document)
    assert json.loads(text) == document and json.dumps(document) == text
    return Reader(text).value() == document


# -- a backtracking matcher, and the library's: closures, recursion, generators --------------------------------------------------------


def parse(pattern):
    nodes, k = [], 0
    while k < len(pattern):
        one = pattern[k]
        if one == "[":
            end = pattern.index("]", k)
            one, k = frozenset(pattern[k + 1 : end]), end
        star = k + 1 < len(pattern) and pattern[k + 1] == "*"
        nodes.append((one, star))
        k += 2 if star else 1
    return nodes


def fits(one, character):
    return one == "." or (character in one if isinstance(one, frozenset) else one == character)


def match(nodes, k, text, at):
    if k == len(nodes):
        return at
    one, star = nodes[k]
    if not star:
        return match(nodes, k + 1, text, at + 1) if at < len(text) and fits(one, text[at]) else -1
    end = at
    while end < len(text) and fits(one, text[end]):
        end += 1
    while end >= at:
        found = match(nodes, k + 1, text, end)
        if found >= 0:
            return found
        end -= 1
    return -1


def search(nodes, text):
    for start in range(len(text)):
        end = match(nodes, 0, text, start)
        if end > start:
            yield text[start:end]


def patterns():
    text = "the quick brown fox 1234 jumps over 77 lazy dogs and 9 cats; " * 6
    found = 0
    for pattern in ("[0123456789]*[ ]l", "o.*x", "[abcdef]*s", "j[umps]* o"):
        nodes = parse(pattern)
        found += sum(len(word) for word in search(nodes, text[:120]))
        found += len(re.findall(pattern, text))
    return found


PROGRAMS = {"tasks": tasks, "constraints": constraints, "documents": documents, "patterns": patterns}


def main():
    program, seconds = PROGRAMS[sys.argv[1]], float(sys.argv[2])
    expected = program()
    until = process_time() + seconds / 2
    while process_time() < until:
        assert program() == expected
    took = []
    until = process_time() + seconds
    while process_time() < until:
        start = process_time()
        result = program()
        took.append(process_time() - start)
        assert result == expected
    print(json.dumps(took))


if __name__ == "__main__":
    main()
