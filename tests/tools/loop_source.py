"""Random Python functions of nested loops over numbers, arrays and lists. `generate(seed)` gives what function_source.generate gives: a module's source, calls, names of functions.

Loops are `for` over ranges, arrays, rows, lists, zip, enumerate, reversed, and counted `while`, with break, continue, else and early returns; bodies read and write elements, mix kinds of
number, branch, call helpers, append and pop. Variables are named by the kind that they begin with: i int, x float, t bool, z complex, s whatever an array's element is. Most operations fit
their operands; some do not, on purpose, and raise or warn. Everything ends: a `while` counts, nests are at most three deep and their trip counts small, and products of ints are
reduced, so that none grows beyond reason."""

import itertools
import random

from function_source import code_of

INT_CONSTANTS = "0 1 2 3 -1 -2 5 7 10 255 256 -7 1000003 2147483647 -2147483648 4611686018427387904 9223372036854775807".split()
SMALL_INTS = "0 1 2 3 -1 -2 5 7".split()
FLOAT_CONSTANTS = "0.0 -0.0 1.0 0.5 -1.5 2.0 3.25 1e-3 1e300 1e-310 math.pi math.inf math.nan -1e18 9007199254740993.0".split()
SMALL_FLOATS = "1.0 0.5 -1.5 2.0 3.25 0.1".split()
DTYPES = "f8 f8 f8 f8 i8 i8 i8 f4 i4 u1 u1 ? i1 i2 u2 u4 u8 c16 f2".split()
MATH = "sqrt exp log sin cos tan atan floor ceil fabs log2 log10 log1p expm1 sinh cosh tanh asin acos cbrt gamma lgamma erf trunc degrees isnan isinf isfinite".split()


class Generator:
    def __init__(self, seed):
        self.rng = random.Random(f"loops {seed}")
        self.vector_rng = random.Random(f"vectors {seed}")  # of its own: programs without vectors are what they were
        self.vectors = self.vector_rng.random() < 0.3
        self.text_rng = random.Random(f"text {seed}")  # the same for text
        self.texts = self.text_rng.random() < 0.2
        self.lines, self.depth, self.indent = [], 0, 0
        self.variables = {}  # kind: names that are bound
        self.helpers = []  # (name, kinds of the parameters)
        self.counter = 0

    def pick(self, *choices):
        return self.rng.choice(choices)

    def chance(self, p):
        return self.rng.random() < p

    def put(self, text):
        self.lines.append("    " * self.indent + text)

    def fresh(self, kind):
        self.counter += 1
        return f"{kind}{self.counter}"

    # ---- expressions ----

    def name(self, kind):
        names = self.variables.get(kind)
        return self.rng.choice(names) if names else None

    def atom(self, kind):
        name = self.name(kind)
        if name and self.chance(0.75):
            return name
        if kind == "i":
            return self.rng.choice(INT_CONSTANTS if self.chance(0.12) else SMALL_INTS)
        if kind == "x":
            return self.rng.choice(FLOAT_CONSTANTS if self.chance(0.12) else SMALL_FLOATS)
        if kind == "t":
            return self.pick("True", "False")
        if kind == "z":
            return self.pick("1j", "(0.5 - 2j)", "0j")
        return self.element()

    def index(self, length):
        """Text of an index that is mostly inside."""
        k = self.rng.random()
        if k < 0.55 and self.name("i"):
            return f"{self.name('i')} % {length}"
        if k < 0.75 and self.name("i"):
            return self.name("i")  # may be outside
        if k < 0.9:
            return self.pick("0", "-1", "1", f"{length} - 1", "-2")
        return f"({self.expression('i', 1)}) % {length}"

    def element(self):
        """Of an array or list."""
        choices = [kind for kind in "amlr" if self.variables.get(kind)]
        if not choices:
            return self.atom("x")
        kind = self.rng.choice(choices)
        name = self.rng.choice(self.variables[kind])
        if kind == "r":
            name = f"{name}[{self.index(f'len({name})')}]"
        if kind == "m":
            return f"{name}[{self.index(f'{name}.shape[0]')}, {self.index(f'{name}.shape[1]')}]"
        return f"{name}[{self.index(f'len({name})')}]"

    def expression(self, kind, depth=2):
        if depth <= 0 or self.chance(0.2):
            return self.atom(kind)
        if self.chance(0.04):  # another kind than expected
            kind = self.rng.choice("ixts")
        return getattr(self, f"expression_{kind}")(depth - 1)

    def expression_i(self, d):
        a, b = self.expression("i", d), self.expression("i", d)
        k = self.rng.randrange(20)
        if k < 5:
            return f"({a} {self.pick('+', '-')} {b})"
        if k < 7:
            return f"({a} * {self.rng.choice(SMALL_INTS)})"
        if k == 7:
            return f"({a} * {b} % {self.pick('1009', '97', '-13', '1000003', '2147483647')})"
        if k == 8:
            return f"({a} // {self.pick('2', '3', '-4', b)})"
        if k == 9:
            return f"({a} % {self.pick('2', '7', '-5', b)})"
        if k == 10:
            return f"({a} {self.pick('&', '|', '^')} {b})"
        if k == 11:
            return f"({a} {self.pick('<<', '>>')} ({b} & {self.pick('3', '7', '31')}))"
        if k == 12:
            return f"({a} % 11) ** {self.pick('2', '3', '0', '5')}"
        if k == 13:
            return f"{self.pick('-', '~', 'abs')}({a})"
        if k == 14:
            return f"{self.pick('min', 'max')}({a}, {b})"
        if k == 15:
            return f"({a} if {self.condition(d)} else {b})"
        if k == 16:
            return f"int({self.expression(self.pick('x', 't', 's', 'i'), d)})"
        if k == 17 and (names := self.variables.get("l", []) + self.variables.get("a", [])):
            return f"len({self.rng.choice(names)})"
        if k == 18 and self.chance(0.2):
            return self.pick(f"random.randrange({self.pick('5', '100', a)})", f"RNG.integers({self.pick('5', '100', b)})", f"random.randint(0, {self.pick('5', '2**40', a)})")
        if k == 18:
            return f"({self.expression('t', d)} + {a})"
        return self.call("i", d) or f"divmod({a}, {self.pick('3', '-2', b)})[{self.pick('0', '1')}]"

    def expression_x(self, d):
        a, b = self.expression("x", d), self.expression(self.pick("x", "x", "i", "s"), d)
        if self.chance(0.3):
            a, b = b, a
        k = self.rng.randrange(18)
        if k < 7:
            return f"({a} {self.pick('+', '-', '*')} {b})"
        if k == 7:
            return f"({a} / ({b} * {b} + 1.0))"
        if k == 8:
            return f"({a} {self.pick('/', '//', '%')} {self.pick('2.0', '-3', '0.7', b)})"
        if k == 9:
            return f"({a}) ** {self.pick('2', '0.5', '3', '-1', '1.5', '2.0')}"
        if k == 10:
            return f"{self.pick('-', 'abs', 'abs', '+')}({a})"
        if k == 11:
            return f"{self.pick('min', 'max')}({a}, {b})"
        if k == 12:
            return f"({a} if {self.condition(d)} else {b})"
        if k == 13:
            return f"float({self.expression(self.pick('i', 's', 't', 'x'), d)})"
        if k == 14:
            return f"math.{self.pick('sqrt', 'log', 'log1p')}(abs({a}) + 1.0)" if self.chance(0.6) else f"math.{self.rng.choice(MATH)}({a})"
        if k == 15 and self.chance(0.3):
            return self.pick("random.random()", "random.random()", "random.uniform(0, 2)", "RNG.random()", "RNG.standard_normal()", "RNG.uniform(-1, 1)")
        if k == 15:
            return f"math.{self.pick('sin', 'cos', 'atan', 'tanh', 'fabs', 'erf')}({a})"
        if k == 16:
            return self.pick(f"round({a}, {self.pick('1', '2', '-1')})", f"math.hypot({a}, {b})", f"math.atan2({a}, {b})", f"math.copysign({a}, {b})", f"math.fmod({a}, 3.0)", f"math.remainder({a}, {b})", f"math.hypot({a}, {b}, 1.5)", f"round({a})")
        return self.call("x", d) or f"({a} * 0.5 + {b})"

    def expression_t(self, d):
        return f"({self.condition(d)})" if self.chance(0.8) else f"bool({self.expression(self.pick('i', 'x', 's'), d)})"

    def expression_z(self, d):
        a, b = self.expression("z", d), self.expression(self.pick("z", "x", "i"), d)
        return self.pick(f"({a} + {b})", f"({a} - {b})", f"({a} * 0.5 * {b})", f"({a} / 2.0)", f"complex({self.expression('x', d)}, {self.expression('x', d)})", f"{a}.conjugate()", f"complex({a}.real, {a}.imag)")

    def expression_s(self, d):
        a, b = self.expression("s", d), self.expression(self.pick("s", "x", "i", "t"), d)
        if self.chance(0.3):
            a, b = b, a
        return self.pick(
            f"({a} {self.pick('+', '-', '*')} {b})", f"({a} {self.pick('+', '-', '*')} {b})", f"({a} {self.pick('/', '//', '%')} {self.pick('2', '3.0', b)})", f"abs({a})",
            f"-({a})", f"{self.pick('min', 'max')}({a}, {b})", f"({a} if {self.condition(d)} else {b})", f"np.{self.pick('sqrt', 'exp', 'abs', 'floor', 'float64', 'int64', 'float32', 'log', 'sin', 'tanh', 'isnan')}({a})", f"np.{self.pick('maximum', 'arctan2', 'power')}({a}, {b})",
            f"({a}) ** {self.pick('2', '0.5', '3')}", f"({a} {self.pick('&', '|', '^', '>>')} {b})", self.element(),
        )  # fmt: skip

    def condition(self, d):
        k = self.rng.randrange(10)
        if k < 6 or d <= 0:
            kind = self.pick("i", "i", "x", "x", "s")
            a, b = self.expression(kind, d), self.expression(self.pick(kind, kind, "i", "x"), d)
            return f"{a} {self.pick('<', '<=', '>', '>=', '==', '!=')} {b}"
        if k == 6:
            return f"{self.condition(d - 1)} {self.pick('and', 'or')} {self.condition(d - 1)}"
        if k == 7:
            return f"not ({self.condition(d - 1)})"
        if k == 8:
            return f"{self.expression('i', d - 1)} < {self.expression('x', d - 1)} <= {self.expression('i', d - 1)}"
        return self.atom("t")

    def call(self, kind, d):
        if not self.helpers:
            return None
        name, parameters = self.rng.choice(self.helpers)
        return f"{name}({', '.join(self.name('l') or '[1, 2.5]' if p == 'l' else self.expression(p, d) for p in parameters)})"

    # ---- statements ----

    def bind(self, kind, name=None):
        name = name or self.fresh(kind)
        names = self.variables.setdefault(kind, [])
        if name not in names:
            names.append(name)
        return name

    def free(self, kind):
        """Variables that no loop counts with."""
        return [name for name in self.variables.get(kind, []) if not name.startswith(("n", "k"))]

    def target(self, kind):
        """A variable to assign to: one that is there, or a new one."""
        names = self.free(kind)
        return self.rng.choice(names) if names and self.chance(0.8) else self.bind(kind)

    def assign(self):
        kind = self.pick("i", "i", "i", "x", "x", "x", "s", "t", "z") if self.chance(0.95) else self.pick("i", "x")
        if kind == "z" and self.chance(0.7):
            kind = "x"
        if self.chance(0.35) and (names := self.free(kind)):
            name = self.rng.choice(names)
            operator = self.pick("+=", "+=", "-=", "*=") if kind != "i" else self.pick("+=", "+=", "-=", "^=", "&=", "|=", "//=", "%=")
            right = self.expression(kind, 2)
            if kind == "t":
                operator = self.pick("&=", "|=", "^=")
            if operator in ("//=", "%="):
                right = self.pick("2", "3", "7", "-5", right)
            if kind == "z":
                operator, right = "+=", f"{right} * 0.5"
            self.put(f"{name} {operator} {right}")
            return
        text = self.expression(kind, 3)
        other = self.pick("i", "x") if self.chance(0.05) else kind  # a variable changes its kind
        self.put(f"{self.target(other)} = {text}")

    def swap(self):
        kind = self.pick("i", "x")
        names = self.free(kind)
        if len(names) < 2:
            return self.assign()
        a, b = self.rng.sample(names, 2)
        self.put(f"{a}, {b} = {self.expression(kind, 1)}, {self.expression(kind, 1)}" if self.chance(0.5) else f"{a}, {b} = {b}, {a}")

    def store(self):
        for _ in range(4):
            target = self.element()
            if "[" in target:
                operator = self.pick("=", "=", "=", "+=", "-=", "*=")
                if target.startswith("l") and operator == "*=":
                    operator = "+="
                return self.put(f"{target} {operator} {self.expression(self.pick('x', 'x', 'i', 's', 't'), 2)}")
        self.assign()

    def exchange(self):
        names = self.variables.get("l", []) + self.variables.get("a", [])
        if not names:
            return self.assign()
        name = self.rng.choice(names)
        i, j = self.index(f"len({name})"), self.index(f"len({name})")
        self.put(f"{name}[{i}], {name}[{j}] = {name}[{j}], {name}[{i}]")

    def row(self):
        """A row gets a name, is changed through it, or is one more time in its list."""
        names = self.variables.get("r")
        if not names:
            return self.store()
        name = self.rng.choice(names)
        row = f"{name}[{self.index(f'len({name})')}]"
        if self.chance(0.6):
            self.put(f"{self.bind('l')} = {row}")
        elif self.appends:
            self.put(f"{row}.append({self.expression(self.pick('i', 'x'), 1)})")
        elif self.chance(0.1):
            self.put(f"{row} = {self.pick('1.5', '3', '[0.5, 2.5]', row)}")
        else:
            self.store()

    def list_method(self):
        names = self.variables.get("l")
        if not names:
            return self.assign()
        name = self.rng.choice(names)
        k = self.rng.random()
        if k < 0.45:
            self.put(f"{name}.append({self.expression(self.pick('i', 'x', 's'), 1)})")
        elif k < 0.7:
            self.whole_list(name)
        else:
            self.put(f"if len({name}) > 2:")
            self.put(f"    {self.target('s')} = {name}.pop()")

    def whole_list(self, name):
        """Nothing that makes lists long."""
        item = self.expression(self.pick("i", "x", "s"), 1)
        low, high = self.pick("", "1", "-2", self.atom("i")), self.pick("", "3", "-1", self.atom("i"))
        self.put(
            self.pick(
                f"{name}.reverse()", f"{name}.sort()", f"{name}[{low}:{high}] = {name}[{low}:{high}]", f"{name}.insert({self.pick('0', '-1', 'n')}, {item})",
                f"{name} = {name}[{low}:{high}] + [{item}]", f"{name} = [{item}] + {name}.copy()[:20]", f"{name} = [{item}] * {self.pick('3', 'n')}", f"{name} = list(range({self.pick('n', '5', '-2, 3')}))",
                f"{name}.extend([{item}, {self.atom('x')}])", f"{name} += ({item},)", f"del {name}[{low}:{high}]", f"del {name}[{self.index(f'len({name})')}]",
                f"{name} = list({name})", f"{name} = {name} * {self.pick('0', '1', '2')}\n".strip() + "[:20]", f"{self.target('s')} = {self.pick('sum', 'min', 'max')}({name})",
                f"{self.target('t')} = {self.atom(self.pick('i', 'x'))} in {name}", f"{self.target('i')} = {name}.index({self.atom('i')})", f"if len({name}) > 30: {name}.clear()",
            )
        )  # fmt: skip

    def branch(self):
        self.put(f"if {self.condition(2)}:")
        self.block()
        while self.chance(0.2):
            self.put(f"elif {self.condition(1)}:")
            self.block()
        if self.chance(0.5):
            self.put("else:")
            self.block()

    def block(self, extra=0, before=()):
        """Names bound in it stay known with some chance: some are unbound on the other path, on purpose."""
        known = {kind: list(names) for kind, names in self.variables.items()}
        self.indent += 1
        for text in before:
            self.put(text)
        for _ in range(self.rng.randrange(1, 4 + extra)):
            self.statement()
        self.indent -= 1
        if self.chance(0.9):
            self.variables = known

    def leave(self):
        if not self.depth:
            return self.assign()
        text = self.pick("break", "break", "continue", "continue", f"return {self.expression('i', 1)}, {self.expression('x', 1)}")
        self.put(f"if {self.condition(2)}:")
        self.put(f"    {text}")

    def trips(self):
        """Text of a number of rounds."""
        if self.depth == 0 and self.chance(0.3):
            return self.pick("n * 30", "200", "150", "n * 17 + 5", "300")
        return self.pick("n", "n", "3", "5", "8", "n + 2", "n - 2", "n // 2", "0", "1")

    def iterable(self):
        """(target, text, names bound by kind)"""
        k = self.rng.randrange(16)
        arrays, matrices, lists = (self.variables.get(kind, []) for kind in "aml")
        i = self.fresh("k")
        if k < 6:
            return i, f"range({self.trips()})", [("i", i)]
        if k == 6:
            return i, f"range({self.pick('1', '0', '-2', 'n')}, {self.trips()})", [("i", i)]
        if k == 7:
            return i, self.pick(f"range({self.trips()}, -1, -1)", f"range(0, {self.trips()}, 2)", f"range({self.trips()}, 0, -2)", f"range(3, -{self.pick('3', '8')}, -1)", "range(0, n, n - 3)"), [("i", i)]
        if k in (8, 9) and lists + arrays:
            return i, self.rng.choice(lists + arrays), [("s", i)]
        if k == 10 and lists + arrays:
            j = self.fresh("k")
            return f"{i}, {j}", f"enumerate({self.rng.choice(lists + arrays)}{self.pick('', '', ', 1', ', n')})", [("i", i), ("s", j)]
        if k == 11 and len(lists + arrays) > 1:
            j = self.fresh("k")
            one, two = (self.rng.choice(lists + arrays) for _ in range(2))
            return f"{i}, {j}", f"zip({one}, {two})", [("s", i), ("s", j)]
        if k == 12 and lists + arrays:
            return i, f"reversed({self.pick(self.rng.choice(lists + arrays), 'range(n)')})", [("s", i)]
        if k in (11, 13) and self.variables.get("r") and self.chance(0.6):
            return i, self.rng.choice(self.variables["r"]), [("l", i)]
        if k == 13 and matrices:
            return i, self.rng.choice(matrices), [("a", i)]
        if k == 14:
            return i, self.pick("(1, 2, 3)", "(0.5, 1, 2.5, True)", "[2, 4, 8]", "(1.5, -2.0)"), [("s", i)]
        if k == 15 and lists + arrays:
            return i, f"range(len({self.rng.choice(lists + arrays)}))", [("i", i)]
        return i, f"range({self.trips()})", [("i", i)]

    def loop(self):
        if self.depth >= 3:
            return self.assign()
        deep = self.depth
        if self.chance(0.25):
            counter = self.fresh("k")
            down = self.chance(0.3)
            self.put(f"{counter} = {self.pick('n', '6', '9') if down else self.pick('0', '0', '1')}")
            test = f"{counter} > 0" if down else f"{counter} < {self.trips()}"
            if self.chance(0.3):
                test += f" and {self.condition(1)}"
            self.put(f"while {test}:")
            bound, before = [("i", counter)], [f"{counter} {'-' if down else '+'}= {self.pick('1', '1', '2')}"]
        else:
            target, text, bound = self.iterable()
            if self.appends and text.startswith(("l", "enumerate(l", "zip(", "reversed(l")):  # a list that grows while it is walked would not end
                target, text, bound = bound[0][1], f"range({self.trips()})", [("i", bound[0][1])]
            self.put(f"for {target} in {text}:")
            before = ()
        known = {kind: list(names) for kind, names in self.variables.items()}
        for kind, name in bound:
            self.bind(kind, name)
        self.depth = deep + 1
        self.block(2, before)
        self.depth = deep
        if self.chance(0.15):
            self.put("else:")
            self.block()
        if self.chance(0.85):
            self.variables = known

    def rows(self):
        """What is done with a list of lists, or with a list as a whole."""
        names, lists = self.variables.get("r"), self.variables.get("l")
        if names and self.chance(0.6):
            name = self.rng.choice(names)
            i, j = self.index(f"len({name})"), self.index(f"len({name})")
            self.put(self.pick(f"{name}[{i}] = {name}[{j}]", f"{name}[{i}], {name}[{j}] = {name}[{j}], {name}[{i}]", f"{self.bind('l')} = {name}[{i}]", f"{name}[{i}] = {name}[{j}][:]"))
        elif lists:
            name = self.rng.choice(lists)
            text = [f"{name}.reverse()", f"{name}[1:3] = [{self.expression('i', 1)}]", f"{self.bind('l')} = {name}[{self.pick('::-1', '1:', ':', ':-1')}]", f"{self.bind('l')} = [q * 2 for q in {name}]", f"{self.target('t')} = {self.expression('i', 1)} in {name}"]
            self.put(self.rng.choice([*text, f"{name}.insert(0, {self.expression('i', 1)})", f"{name}.extend([{self.expression('x', 1)}])"] if self.appends else text))
        else:
            self.assign()

    def carried(self):
        """A tuple that is made, carried and taken apart."""
        name = self.bind("p")
        self.put(f"{name} = ({self.expression('i', 1)}, {self.expression('x', 1)})")
        self.put(f"{self.target('i')}, {self.target('x')} = {name}")

    def around(self):
        """A block with something around it."""
        if self.chance(0.4):
            self.put("try:")
            self.block(1)
            if self.chance(0.5):
                self.put(f"except {self.pick('ZeroDivisionError', 'IndexError', 'Exception')} as error:")
                self.put("    LOG.append(str(error))")
                if self.chance(0.4):
                    self.put("else:")
                    self.block()
            self.put("finally:")
            self.block()
        else:
            self.put(f"with np.errstate({self.pick('all', 'divide', 'over', 'invalid')}={self.pick('ignore', 'ignore', 'raise', 'warn')!r}):")
            self.block(1)

    def rare(self):
        k = self.rng.randrange(12)
        if k == 8 or k == 9:
            return self.rows()
        if k == 10:
            return self.around()
        if k == 11:
            return self.carried()
        if k == 0:
            self.put(f"print({self.expression('i', 1)})")
        elif k == 1 and (arrays := self.variables.get("a")):
            name = self.rng.choice(arrays)
            self.put(f"{self.target('s')} = {name}.{self.pick('sum()', 'max()', 'mean()', 'size', 'ndim')}")
        elif k == 2 and (arrays := self.variables.get("a")):
            name = self.rng.choice(arrays)
            self.put(self.pick(f"{name}[1:] *= 2", f"{name}[:2] = {self.expression('i', 1)}", f"{name} = {name} + {self.expression('i', 1)}", f"{name} = {name}[::-1]"))
        elif k == 3:
            self.put("try:")
            self.block()
            self.put(f"except {self.pick('ZeroDivisionError', 'IndexError', '(ValueError, OverflowError)', 'ArithmeticError')}:")
            self.block()
        elif k == 4:
            self.put(f"{self.target('i')} = sum([{self.pick('q', 'q * 2', 'q % 3')} for q in range({self.trips() if self.depth else 'n'}) {self.pick('', 'if q % 2')}])")
        elif k == 5:
            self.put(f"LOG.append({self.expression('i', 1)})")
        elif k == 6 and self.variables.get("l"):
            self.put(f"{self.target('s')} = {self.pick('sum', 'max', 'min', 'len')}({self.name('l')})")
        else:
            self.put(f"assert {self.condition(1)} or True")

    # ---- whole arrays ----

    def vector(self):
        """An operation on rows, slices and arrays that are made in the loop; mostly of one shape."""
        names = [name for kind in "av" for name in self.variables.get(kind, [])]
        matrices = self.variables.get("m", [])
        pick = self.vector_rng.choice
        if not names and not matrices:
            return self.assign()
        name = pick(names + matrices)
        is_matrix = name in matrices
        i, j = pick([self.index(f"len({name})"), "0", "-1"]), pick([self.atom("i"), "1", "2"])
        lines = [f"{name}[{i}]", f"{name}[{j} % len({name})]", f"{name}[{i}, :]", f"{name}[0, ::-1]"]
        columns = [f"{name}[:, {i} % 2]", f"{name}[::-1, 0]"]
        parts = pick(
            [
                [name],
                [f"{name}[1:]", f"{name}[:-1]"],
                [f"{name}[::-1]", name],
                [f"{name}[::2]"],
                [f"{name}[{j}:{j} + 2]", f"{name}[:2]"],
                [f"{name}[{j}:]"],
                [f"{name}[{j} :: abs({j}) + 1]", f"{name}[:: abs({j}) + 1]", f"{name}[:: -abs({j}) - 1]"],
                [f"{name}[:: {j}]", f"{name}[: {j} : {self.atom('i')}]"],
            ]
        )
        parts = pick([lines, columns, parts]) if is_matrix else parts
        scalar = pick([self.atom("x"), self.atom("i"), "2", "0.5", self.atom("s")])
        one, other = (
            pick(parts),
            pick(
                [
                    pick(parts),
                    pick(parts),
                    scalar,
                    pick(parts) if self.vector_rng.random() < 0.9 else pick(names + matrices),
                ]
            ),
        )
        value = pick(
            [
                f"{one} {pick('+-*/')} {other}",
                f"{scalar} {pick('+-*')} {one}",
                f"({one} - {other}) * {scalar}",
                f"{one} {pick(['//', '%', '<', '==', '>='])} {other}",
                f"-{one}",
                f"abs({one})",
                f"{one} ** 2",
                f"np.{pick(['sqrt', 'exp', 'sin', 'square'])}({one})",
                f"np.{pick(['maximum', 'minimum'])}({one}, {other})",
                f"{one}.copy()",
                f"{one}.astype({pick(['float', 'int', 'bool', 'np.float32', 'np.int32'])})",
                f"({one} > {scalar}) * {other}",
                f"{one}[{one} > {scalar}]",
                f"np.where({one} > {scalar}, {pick(parts)}, {other})",
                f"{one}[{pick(parts)}.astype(int) % {pick(['len(' + one + ')', '3'])}]",
                one,
            ]
            + [f"{m}.{pick(['sum', 'max', 'min', 'mean', 'prod'])}(axis={pick('01')})" for m in matrices[:1]]
            + [f"{m} @ {m}.T" for m in matrices[-1:]]
        )
        number = pick(
            [
                f"({one} > {scalar}).{pick(['sum', 'mean', 'any'])}()",
                f"{one}.{pick(['argmax', 'argmin'])}()",
                f"({value}).{pick(['sum', 'min', 'max', 'mean', 'any', 'all', 'prod'])}()",
                f"np.{pick(['sum', 'max', 'mean', 'any'])}({one})",
                f"np.dot({one}, {pick(parts)})",
                f"{one} @ {pick(parts)}",
                f"np.linalg.norm({one})",
                f"np.linalg.norm({one} - {pick(parts)})",
                f"len({one})",
                f"({value}).size",
            ]
        )
        k = self.vector_rng.random()
        if k < 0.3:
            self.put(
                f"{self.bind('v') if self.vector_rng.random() < 0.5 or not self.variables.get('v') else self.name('v')} = {value}"
            )
        elif k < 0.5:
            self.put(f"{one if '[' in one else one + '[:]'} = {value}")
        elif k < 0.65:
            self.put(f"{one} {pick('+-*')}= {other}")
        elif k < 0.7:
            key = pick([f"{one} > {scalar}", f"{pick(parts)} > {scalar}", f"abs({pick(parts)}).astype(int) % len({one})"])
            self.put(f"{one}[{key}] {pick(['=', '=', '+=', '*='])} {pick([scalar, scalar, other])}")
        elif k < 0.78 and self.variables.get("v"):
            self.put(f"{self.name('v')}[{pick(['0', '-1', '1:', ':2'])}] {pick(['=', '+='])} {scalar}")
        else:
            self.put(f"{self.target('s')} = {number}")

    # ---- text ----

    def char(self):
        """Text of a character; mostly of ASCII."""
        pick = self.text_rng.choice
        text = pick(self.variables["w"])
        i = pick([self.atom("i"), "0", "-1", f"{self.atom('i')} % (len({text}) or 1)", f"{self.atom('i')} % (len({text}) or 1)"])
        known = [pick(self.variables["c"])] * 3 if self.variables.get("c") else []
        return pick(known + [f"{text}[{i}]", f"{text}[{i}]", repr(pick("abz09 _é")), f"chr({self.atom('i')} % {pick(['128', '100', '300'])})"])

    def char_test(self):
        pick = self.text_rng.choice
        return pick(
            [
                f"{self.char()} {pick(['==', '!=', '<', '<=', '>', '>='])} {self.char()}",
                f"{self.char()} {pick(['in', 'not in'])} {pick(['VOWELS', repr('abc'), repr('0123456789'), repr(''), repr('ébc'), '(' + repr('a') + ', ' + repr('bc') + ')', '{' + repr('a') + ', ' + repr('z') + '}', *self.variables['w']])}",
                f"{self.char()}.{pick(['isdigit', 'isalpha', 'isalnum', 'isspace', 'isupper', 'islower', 'isidentifier'])}()",
                f"{self.char()}.{pick(['upper', 'lower'])}() == {self.char()}",
                f"{self.char()} {pick(['==', '!='])} {pick([repr('ab'), repr(''), 'None', *self.variables['w']])}",
            ]
        )

    def text(self):
        pick, k = self.text_rng.choice, self.text_rng.random()
        if k < 0.25 and self.depth < 2:
            return self.text_loop()
        if k < 0.45:
            self.put(f"{pick(self.variables['c']) if self.variables.get('c') and self.text_rng.random() < 0.6 else self.bind('c')} = {pick([self.char(), self.char() + pick(['.upper()', '.lower()', '']), pick(self.variables['w'])])}")
        elif k < 0.7:
            value = pick([f"ord({self.char()})", f"ord({self.char()}) - ord('a')", f"len({pick(self.variables['w'])})", f"({self.char_test()})", f"int({self.char()}) if {self.char()}.isdigit() else 1"])
            self.put(f"{self.target('i')} {pick(['=', '=', '+='])} {value}")
        elif k < 0.75:
            self.put(f"LOG.append({self.char()})")
        else:
            self.put(f"if {self.char_test()}{pick(['', '', ' and ' + self.char_test()])}:")
            self.block()

    def text_loop(self):
        pick, deep = self.text_rng.choice, self.depth
        text, other = pick(self.variables["w"]), pick(self.variables["w"])
        one, two, k = self.fresh("c"), self.fresh("c"), self.fresh("k")
        target, over, bound = pick(
            [
                (one, text, [("c", one)]),
                (one, text, [("c", one)]),
                (one, "VOWELS", [("c", one)]),
                (one, f"reversed({text})", [("c", one)]),
                (f"{k}, {one}", f"enumerate({text})", [("i", k), ("c", one)]),
                (f"{one}, {two}", f"zip({text}, {other})", [("c", one), ("c", two)]),
                (k, f"range(len({text}))", [("i", k)]),
            ]
        )
        self.put(f"for {target} in {over}:")
        known = {kind: list(names) for kind, names in self.variables.items()}
        for kind, name in bound:
            self.bind(kind, name)
        self.depth = deep + 1
        self.block(2)
        self.depth = deep
        if self.text_rng.random() < 0.7:
            self.variables = known

    def statement(self):
        if self.texts and self.variables.get("w") and self.text_rng.random() < 0.35:
            return self.text()
        if self.vectors and self.vector_rng.random() < 0.4:
            return self.vector()
        k = self.rng.random()
        if k < 0.38:
            self.assign()
        elif k < 0.42:
            self.swap()
        elif k < 0.58:
            self.store()
        elif k < 0.60:
            self.exchange()
        elif k < 0.61:
            self.row()
        elif k < 0.64:
            if self.appends:
                self.list_method()
            else:
                self.assign()
        elif k < 0.76:
            self.branch()
        elif k < 0.82:
            self.leave()
        elif k < 0.97 - 0.05 * self.depth:
            self.loop()
        else:
            self.rare()

    # ---- functions ----

    def helper(self, number):
        kinds = self.rng.choices("ixs", k=self.rng.randrange(1, 4)) + ["l"] * self.chance(0.25)
        parameters = [f"{'p' if kind == 's' else kind}{k}" for k, kind in enumerate(kinds)]
        self.variables = {}
        for kind, name in zip(kinds, parameters):
            self.bind(kind, name)
        others, self.helpers = self.helpers, []
        self.put(f"def h{number}({', '.join(parameters)}):")
        self.indent = 1
        recursive = self.chance(0.2)
        if recursive:
            self.put(f"if {parameters[0]} < 2 or {parameters[0]} > 6 or {parameters[0]} != {parameters[0]}:")
            self.put(f"    return {self.expression(kinds[0], 1)}")
            rest = "".join(f", {name}" for name in parameters[1:])
            self.put(f"return h{number}({parameters[0]} - 1{rest}) + {self.pick('', f'h{number}({parameters[0]} - 2{rest}) + ')}{self.expression(kinds[0], 1)}")
        else:
            if self.chance(0.5):
                self.put(f"if {self.condition(1)}:")
                self.put(f"    return {self.expression(self.pick('i', 'x'), 2)}")
            if self.chance(0.3):
                self.put(f"for k in range({self.pick('3', '5')}):")
                self.put(f"    {parameters[0]} = {self.expression(kinds[0], 2)}")
            if kinds[-1] == "l" and self.chance(0.5):
                self.store()
            self.put(f"return {self.expression(self.pick('i', 'x', kinds[0]), 2)}")
        self.indent = 0
        self.helpers = others + [(f"h{number}", kinds)]

    PARAMETERS = ("a", "a", "m", "l", "l", "l", "r", "i", "x")

    def function(self, name):
        self.variables, self.depth, self.counter = {}, 0, 0
        self.appends = self.chance(0.35)
        self.kinds = [self.pick(*self.PARAMETERS) for _ in range(self.rng.randrange(1, 4))]
        self.kinds += ["w"] * (self.text_rng.randrange(1, 3) if self.texts else 0)
        self.parameters = [f"{kind}0{k}" for k, kind in enumerate(self.kinds)]
        for kind, parameter in zip(self.kinds, self.parameters):
            self.bind(kind, parameter)
        self.put(f"def {name}({', '.join([*self.parameters, 'n'])}):")
        self.indent = 1
        for kind in "iixx":
            if self.chance(0.8):
                text = self.atom(kind) if self.chance(0.5) else self.rng.choice(SMALL_INTS if kind == "i" or self.chance(0.2) else SMALL_FLOATS)
                self.put(f"{self.bind(kind)} = {text}")
        self.bind("i", "n")
        if self.chance(0.1):
            self.put(f"{self.bind('r')} = {self.pick('[[0] * n for _ in range(n)]', '[[0.0] * n for _ in range(n)]', '[[q for q in range(n)] for p in range(3)]')}")
        if self.chance(0.3):
            text = self.pick("[0] * n", "[0.0] * n", "[True] * n", "list(range(n))", "[1, 2.5, 3]", "[q * 0.5 for q in range(n)]", "[]")
            self.put(f"{self.bind('l')} = {text}")
        if self.chance(0.2):
            text = self.pick("np.zeros(n)", "np.zeros(n, dtype=np.int64)", "np.ones((n, 3))", "np.arange(n)", "np.full(n, 2.5, np.float32)")
            self.put(f"{self.bind('m' if '(n, ' in text and '3)' in text else 'a')} = {text}")
        for _ in range(self.rng.randrange(0, 2)):
            self.assign()
        for _ in range(self.rng.randrange(1, 3)):
            self.loop()
            if self.chance(0.3):
                self.assign()
        names = [name for kind in "vixtzsalrpc" for name in self.variables.get(kind, [])]
        self.rng.shuffle(names)
        self.put(f"return {', '.join(names[:6]) or '0'},")
        self.indent = 0

    # ---- calls ----

    def argument(self, kind):
        n = self.pick("4", "5", "6", "3", "9")
        if kind == "a":
            text = f"A({n}, {self.rng.choice(DTYPES)!r}, {self.pick('1', '0', '-2', '1')})"
            return text if self.chance(0.8) else self.pick(f"A({n})[::2]", f"A({n})[::-1]", f"M(3, {n})[:, 1]", "A(0)", "XA", "XB", "np.array([1.0, np.nan, np.inf, -0.0, 0.0])", "np.array([2**62, -1, 5, 2**63 - 1])")
        if kind == "m":
            return self.pick(f"M(3, {n})", f"M({n}, 4)", f"M(2, {n}, {self.rng.choice(DTYPES)!r})", f"M({n}, 3).T", "M(4, 6)[:, ::2]", "XM")
        if kind == "l":
            return self.pick("[1, 2, 3, 4]", "[1.5, 2.5, -0.5]", "[3, 1, 4, 1, 5, 9, 2, 6]", "[0.5] * 6", "[1, 2.5, 3, True]", "[True, False, True]", "[10**18, 10**19, 3]", "list(range(9))", "[]", "[float(q) for q in range(7)]",
                             "[0.0, -0.0, math.inf, math.nan]", "W", "[1.5, None, 2.5]", "[np.float64(1.5), 2.0]", "[256, 257, -5, -6, 1000, 2**30, -(2**30)]", "[1000] * 5", "[2**59, 2**60, 2**61, -(2**60)]",
                             "[1.5, type('Real', (float,), {})(3.0), 2.5]", "[0.25 * q for q in (4, 7, 9)] * 2", "[q * 300 for q in range(6)]")  # fmt: skip
        if kind == "r":
            return self.pick("[[1.0, 2.0], [3.0, 4.0, 5.0], [0.5, 1.5]]", "[[0.5, 1.5, 2.5]] * 3", "[[q * 100 + p for p in range(4)] for q in range(4)]", "[[0] * 5 for q in range(3)]", "[(1.5, 2.5), [3.5], (0.5,)]",
                             "[[1, 2.5], [True, 3], [10**20, 4]]", "[[1.0], None, [2.0]]", "[[]]", "[[False] * 4, [True, False]]", "[[1.0, 2.0], 3.0, [4.0]]")  # fmt: skip
        if kind == "w":
            texts = ["hello world", "a", "", "The 3 quick, 14 brown!", "xyzzy abba", "0123456789", "hello world", "naïve", "\U0001f600 b", "a\0b\x7f", "日本", "aaaaaaaabbb"]
            return repr(self.text_rng.choice(texts)) if self.text_rng.random() < 0.93 else self.text_rng.choice(["'ab' * 100", "b'bytes'", "['a', 'bc']", "type('Str', (str,), {})('sub')"])
        if kind == "i":
            return self.pick("0", "1", "7", "-3", "100", "2**31", "2**62", "2**63 - 1", "2**64", "True", "np.int64(5)") if self.chance(0.5) else self.rng.choice(SMALL_INTS)
        return self.pick("0.5", "-1.25", "3.0", "1e308", "math.inf", "math.nan", "-0.0", "2", "np.float64(0.5)", "np.float32(0.5)") if self.chance(0.5) else self.rng.choice(SMALL_FLOATS)

    def calls(self, name):
        found, head = [], "" if name == "f" else f"{name} "
        base = [self.argument(kind) for kind in self.kinds]
        n = self.pick("4", "5", "6")
        for _ in range(self.rng.randrange(2, 5)):
            row = list(base)
            if found and self.chance(0.6):
                k = self.rng.randrange(len(row))
                row[k] = self.argument(self.kinds[k])
            if found and self.chance(0.06):
                row[self.rng.randrange(len(row))] = self.pick("None", "'s'", "2.5", "3", "A(3)", "[1, 2]")
            alike = [k for k, kind in enumerate(self.kinds) if kind in "lr"]
            if len(alike) > 1 and self.chance(0.4):  # one list, twice
                row[alike[0]], row[alike[1]] = f"(same := {row[alike[0]]})", "same"
            if self.chance(0.08):  # one object twice
                for one, text in (("a", "XA"), ("l", "W"), ("m", "XM")):
                    row = [text if kind == one and "same" not in argument else argument for kind, argument in zip(self.kinds, row)]
            if found and self.chance(0.4):
                n = self.pick("3", "7", "9", "0", "1", "8", "True", "np.int64(4)")
            found.append(f"{head}({', '.join([*row, n])})")
        return found

    def program(self):
        for k in range(self.rng.randrange(0, 3)):
            self.helper(k)
        names, calls = ["f", "f1"][: self.rng.randrange(1, 3)], []
        for name in names:
            self.function(name)
            calls += self.calls(name)
        text = "\n".join(self.lines) + "\n"
        for name, start in (("random.", "random.seed(3)"), ("RNG.", "global RNG\n    RNG = np.random.default_rng(3)")):
            if name in text:  # the same numbers in every run
                for f in names:
                    head, rest = text.split(f"def {f}(", 1)
                    first, rest = rest.split("\n", 1)
                    text = f"{head}def {f}({first}\n    {start}\n{rest}"
        return text, calls, names


def generate(seed):
    for attempt in itertools.count():
        source, calls, names = Generator(seed if attempt == 0 else f"{seed} again {attempt}").program()
        try:
            code_of(source)
        except SyntaxError:
            continue
        return source, calls, names
