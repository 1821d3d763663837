"""Random NumPy functions as source text, and random arguments for them.

A function is grown by running it: every expression is evaluated as soon as it is written, on one set of example arguments, so that the next one can
be made to fit the shapes and dtypes at hand.  An expression that raises is thrown away, except now and then as the last one of a function.
Arguments are expressions too; sizes are names in them (n0 ...), so that one function can be called with other sizes, and each set of arguments chooses
memory layouts and values anew.  Everything follows from the seed.
"""

import random
import warnings

import numpy as np

DTYPES = ("bool", "int32", "int64", "float32", "float64")
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-310, 1e-42, 1e300, -3e38, np.inf, -np.inf, np.nan, 7.0)
SPECIAL_INTS = (0, 1, -1, 2, -7, 31, 63, 2**31 - 1, -(2**31))

UNARY = """negative positive absolute square reciprocal sqrt sign floor ceil trunc rint fabs logical_not invert isnan isinf isfinite signbit exp exp2 expm1
    log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh cbrt deg2rad rad2deg""".split()
BINARY = """add subtract multiply divide minimum maximum copysign less less_equal greater greater_equal equal not_equal logical_and logical_or logical_xor
    bitwise_and bitwise_or bitwise_xor left_shift right_shift power arctan2 hypot logaddexp logaddexp2 floor_divide remainder fmod nextafter heaviside""".split()
OPERATORS = "+ - * / + - * / + - * + - * // % ** & | ^ << < <= > >= == !=".split()
INPLACE = "+= -= *= /= //= %= **= &= |= ^= <<= >>=".split()
NUMBERS = "0 1 2 3 -1 -2 7 2 3 100 2147483647 2147483648 0.5 2.0 -1.5 3.0 0.0 -0.0 1e-3 1e300 np.inf np.nan np.pi True False".split()
NUMBERS += "np.float32(1.5) np.int64(3) np.int32(-2) np.float64(0.1) np.bool_(True) np.float32(0) np.int64(0)".split()
LAYOUTS = "C C C C F F step negative crop roll stretch readonly shifted".split()
REDUCTIONS = "sum sum sum prod mean min max any all var std argmin argmax cumsum cumprod".split()


def values(dtype, n, seed, kind):
    """n numbers: "calm" ones that raise no flag in most operations, or "wild" ones with every special value."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, n).astype(bool)
    wild = (rng.random(n) < 0.4) & (kind == "wild")
    if dtype in ("int32", "int64"):
        return np.where(wild, rng.choice(SPECIAL_INTS, n), rng.integers(1, 9, n)).astype(dtype)
    with np.errstate(all="ignore"):
        return np.where(wild, rng.choice(SPECIAL, n), rng.random(n) * 0.9 + 0.05).astype(dtype)


class Arguments:
    """The parameters of a function and their shapes in named sizes."""

    def __init__(self, seed):
        self.random = random.Random(f"arguments {seed}")
        self.parameters = []
        for i in range(self.random.choice((1, 2, 2, 3, 3, 4))):
            if i and self.random.random() < 0.15:
                self.parameters.append((self.random.choice(("int", "float", "bool", "float32", "int64")), None))
            else:
                ndim = self.random.choice((0, 1, 1, 1, 2, 2, 2, 2, 3))
                names = ["n0", "n1", "n2"][3 - ndim :] if self.random.random() < 0.7 else self.random.choices(("n0", "n1", "n2", "1"), k=ndim)
                self.parameters.append((self.random.choice(DTYPES + ("float64", "float64", "float32")), tuple(names)))
        self.names = "abcd"[: len(self.parameters)]

    def draw(self, first=False, big=False):
        """One set: lines of source that set sizes and every parameter.  The first set has ordinary sizes, the function grows on it."""
        r = self.random
        sizes = [r.choice((2, 3, 4, 5, 7)) if first else r.choice((0, 1, 1, 2, 3, 4, 5, 8, 17, 33)) for _ in range(3)]
        if not first and r.random() < 0.3:
            sizes[2] = r.choice((64, 100, 257))
        if big:  # NumPy reuses temporaries from 256 KiB on
            rank = max([len(shape or ()) for _, shape in self.parameters])
            sizes = [r.choice((3, 16)), r.choice((90, 130)), r.choice((33, 300 if rank > 1 else 40000))]
        lines = [f"n{i} = {n}" for i, n in enumerate(sizes)]
        kind = r.choice(("calm", "calm", "wild"))
        for name, (dtype, shape) in zip(self.names, self.parameters):
            if shape is None:
                lines.append(f"{name} = {self.number(dtype)}")
            else:
                lines.append(f"{name} = {self.array(dtype, shape, kind)}")
        if not first and r.random() < 0.1:
            lines.append(f"K = {r.choice(('2.5', '-1.0', '3', 'np.float32(0.5)'))}")
        if len(self.names) > 1 and r.random() < 0.15:
            lines.append(self.alias(lines))
        return [line for line in lines if line]

    def alias(self, lines):
        """Two parameters that share memory."""
        x, y = self.random.sample(self.names, 2)
        (dtype, shape), (other, dims) = (self.parameters[self.names.index(name)] for name in (x, y))
        if shape is None or dims is None or len(shape) != len(dims) or dtype != other:
            return ""
        return f"{x} = {y}" + self.random.choice(("", "", "[...]", "[::-1]" if dims else "", "[1:]" if dims else "", ".T"))

    def number(self, kind):
        text = self.random.choice({"int": "0 1 2 -3 7 2147483648", "float": "0.0 0.5 2.0 -1.5 np.nan np.inf 1e300", "bool": "True False"}.get(kind, "0 1 2 3 -2").split())
        return text if kind in ("int", "float", "bool") else f"np.{kind}({text})"

    def array(self, dtype, shape, kind):
        r = self.random
        layout = r.choice(LAYOUTS)
        seed = r.randrange(1000)
        if layout == "stretch" and shape:
            one = r.randrange(len(shape))
            inner = [n if i != one else "1" for i, n in enumerate(shape)]
            return f"np.broadcast_to({_flat(dtype, inner, seed, kind)}.reshape({_tuple(inner)}), {_tuple(shape)})"
        if layout == "step" and shape:
            factors = [r.choice((1, 2)) for _ in shape]
            return f"{_flat(dtype, [f'{n}*{k}' for n, k in zip(shape, factors)], seed, kind)}.reshape({_tuple(f'{n}*{k}' for n, k in zip(shape, factors))})[{', '.join(f'::{k}' for k in factors)}]"
        plain = f"{_flat(dtype, shape, seed, kind)}.reshape({_tuple(shape)})"
        if layout == "F":
            return f"np.asfortranarray({plain})" if shape else plain
        if layout == "negative" and shape:
            return f"{plain}[{', '.join(r.choice(('::-1', ':')) for _ in shape)}]"
        if layout == "crop" and shape:
            wide = [*shape[:-1], f"({shape[-1]}+2)"]
            return f"{_flat(dtype, wide, seed, kind)}.reshape({_tuple(wide)})[..., 1:-1]"
        if layout == "roll" and len(shape) > 1:
            axes = r.sample(range(len(shape)), len(shape))
            return f"{_flat(dtype, shape, seed, kind)}.reshape({_tuple(shape[i] for i in axes)}).transpose({tuple(axes.index(i) for i in range(len(axes)))})"
        if layout == "readonly":
            return f"np.broadcast_to({plain}, {_tuple(shape)})"
        if layout == "shifted" and shape:
            return f"{_flat(dtype, [*shape, '1'], seed, kind, '+1')}[1:].reshape({_tuple(shape)})"
        return plain


def _tuple(items):
    return "(" + "".join(f"{item}, " for item in items) + ")"


def _flat(dtype, shape, seed, kind, more=""):
    return f"values({dtype!r}, {'*'.join(shape) or '1'}{more}, {seed}, {kind!r})"


def evaluate(lines):
    """Runs the lines of a set of arguments: name -> value."""
    names = {"np": np, "values": values}
    for line in lines:
        exec(line, names)
    return names


class Grower:
    """Writes the body of one function.  `names` maps every name that the code may use to its value on the example arguments."""

    def __init__(self, rng, names, locals_, depth=0):
        self.r, self.names, self.locals, self.depth = rng, names, list(locals_), depth
        self.lines = []
        self.count = 0
        self.mood = rng.choice(MOODS)

    # Expressions: methods that return source text, or None when nothing fits.

    def value(self, text):
        """What the text evaluates to, or None if it raises or grows out of bounds."""
        try:
            result = eval(text, self.names)
        except Exception:
            return None
        return result if _fits(result) else None

    def arrays(self, ndim=0):
        return [n for n in self.locals if isinstance(self.names[n], np.ndarray) and self.names[n].ndim >= ndim]

    def atom(self, ndim=0):
        found = self.arrays(ndim)
        if not found or self.r.random() < 0.03:
            return self.r.choice(NUMBERS) if not ndim else None
        return self.r.choice(found[-4:] if self.r.random() < 0.6 else found)

    def operand(self, level):
        roll = self.r.random()
        if roll < 0.2:
            return self.r.choice(NUMBERS)
        if roll < 0.27:
            scalars = [n for n in self.locals if isinstance(self.names[n], (int, float, np.generic))]
            if scalars:
                return self.r.choice(scalars)
        if roll < 0.31 and self.arrays(1):
            name = self.r.choice(self.arrays(1))
            return self.r.choice((f"{name}.shape[0]", f"len({name})", f"{name}.size", f"{name}.ndim", f"{name}.shape[-1]"))
        return self.expression(level + 1) if roll < 0.6 and level < 2 else self.atom()

    def expression(self, level=0):
        for _ in range(12):
            kind = self.r.choices(*EXPRESSIONS)[0]
            text = getattr(self, kind)(level)
            if text is not None and self.value(text) is not None:
                return text
        return self.atom()

    def e_operator(self, level):
        op = self.r.choice(OPERATORS)
        right = self.operand(level) if op not in ("**", "<<") else self.r.choice(("1", "2", "3", "2", "0.5", "-1", "2.0", *self.arrays()))
        text = f"({self.operand(level)} {op} {right})"
        return None if "2147483648" in text and set("<=>") & set(text) else text  # NumPy 2.0 crashes on some of these comparisons

    def e_unary(self, level):
        return f"{self.r.choice(('-', '+', '~', 'abs'))}({self.operand(level)})"

    def e_ufunc1(self, level):
        return f"np.{self.r.choice(UNARY)}({self.operand(level)})"

    def e_ufunc2(self, level):
        more = f", dtype={self.dtype()}" if self.r.random() < 0.04 else ""
        return f"np.{self.r.choice(BINARY)}({self.operand(level)}, {self.operand(level)}{more})"

    def form(self, common, rare):
        """One of the forms; one of the rare ones, which most compilers of NumPy refuse, in a tenth of the cases."""
        return self.r.choice(rare if self.r.random() < 0.1 else common)

    def e_select(self, level):
        x, y, z = self.atom(1) or self.operand(level), self.operand(level), self.operand(level)
        return self.form((f"np.where({x} > 0, {y}, {z})", f"np.where({x} > {y}, {y}, {z})", f"np.clip({x}, 0, 2)", f"np.minimum({x}, {y})"),
                         (f"np.where({x}, {y}, {z})", f"np.clip({x}, {y}, {z})", f"np.round({x}, 1)", f"{x}.clip(-1, None)", f"np.round({x})"))  # fmt: skip

    def dtype(self):
        return self.r.choice(("np.float64", "np.float32", "np.int64", "np.int32", "bool", "float", "int", "'f4'"))

    def e_cast(self, level):
        x = self.operand(level)
        t = self.dtype()
        return self.form((f"{x}.astype({t})", f"{x}.astype({t}, copy=False)", f"np.asarray({x}, dtype={t})", f"np.array({x})", f"{x}.copy()", f"np.ascontiguousarray({x})"), (f"{x}.astype({t}, order='F')", f"np.copy({x}, order='F')"))

    def e_scalar(self, level):
        x = self.operand(level)
        return self.r.choice((f"np.float32({x})", f"np.float64({x})", f"np.int64({x})", f"float({x})", f"int({x})", f"bool({x})", f"{x}.item()", f"min({x}, {self.operand(level)})", f"max({x}, 1)"))

    def index(self, array):
        """A subscript for that array."""
        parts = []
        for n in array.shape[: self.r.randint(0 if self.r.random() < 0.2 else 1, array.ndim) if array.ndim else 0]:
            roll = self.r.random()
            if roll < 0.25 and n:
                parts.append(str(self.r.randint(-1, min(1, n - 1))))
            elif roll < 0.4:
                parts.append(":")
            else:
                start, stop = (self.r.choice(("", "", "0", "1", "2", "-1", "-2", "5", str(n))) for _ in range(2))
                step = self.r.choice(("", "", "::", "-1", "2", "-2", "3"))
                parts.append(f"{start}:{stop}" + (f":{step}" if step != "::" else ":"))
        while self.r.random() < 0.12:
            parts.insert(self.r.randint(0, len(parts)), "None")
        if self.r.random() < 0.12 or not parts:
            parts.insert(self.r.randint(0, len(parts)), "...")
        return ", ".join(parts)

    def e_index(self, level):
        x = self.atom()
        array = self.value(x)
        if not isinstance(array, np.ndarray):
            return None
        return f"{x}[{self.index(array)}]"

    def e_shape(self, level):
        x = self.atom() if self.r.random() < 0.7 else self.operand(level)
        array = self.value(x)
        if not isinstance(array, np.ndarray):
            return None
        n = array.ndim
        axis = self.r.randint(-n - 1, n)
        perm = ", ".join(map(str, self.r.sample(range(n), n)))
        if n > 1 and not array.flags.c_contiguous and self.r.random() < 0.8:
            return f"{x}.T" if self.r.random() < 0.5 else None
        return self.form((
            f"{x}.T", f"{x}.T", f"np.transpose({x})", f"{x}.transpose({perm})", f"{x}.reshape(-1)", f"{x}.ravel()", f"{x}.flatten()", f"{x}.reshape({x}.shape[::-1])",
            f"np.expand_dims({x}, {axis})", f"np.squeeze({x})", f"np.flip({x})", f"np.flip({x}, {axis})", f"np.swapaxes({x}, 0, {axis})", f"np.moveaxis({x}, 0, {axis})",
            f"np.broadcast_to({x}, (2,) + {x}.shape)", f"{x}.reshape(1, -1)", f"{x}.reshape({x}.shape[0], -1)", f"{x}.reshape({x}.size // 2, 2)",
            f"np.concatenate([{x}, {self.operand(level)}])", f"np.stack(({x}, {x}), axis={axis})", f"np.concatenate(({x}, {x}), axis={axis})", f"{x}[None]", f"{x}[..., None]", f"{x}.T.T",
        ), (f"{x}.ravel(order='F')", f"{x}.reshape(-1, order='F')"))  # fmt: skip

    def e_reduce(self, level):
        x = self.atom(1) or self.operand(level) if self.r.random() < 0.7 else self.operand(level)
        array = self.value(x)
        n = getattr(array, "ndim", 0)
        if n == 0 and self.r.random() < 0.8:
            return None
        axes = ["None", "-1", "0"] + [str(i) for i in range(-n, n)] + [f"({i}, {j})" for i in range(n) for j in range(n) if i != j]
        options = [f"axis={self.r.choice(axes)}"] if self.r.random() < 0.65 else []
        name = self.r.choice(REDUCTIONS)
        if self.r.random() < 0.2 and not name.startswith(("cum", "arg")):
            options.append("keepdims=True")
        if self.r.random() < 0.06 and not name.startswith(("cum", "arg", "var", "std", "min", "max", "any", "all")):
            options.append(f"dtype={self.dtype()}")
        return f"{x}.{name}({', '.join(options)})" if self.r.random() < 0.5 else f"np.{name}({', '.join([x, *options])})"

    def e_product(self, level):
        x, y = self.atom(1) or "1", self.atom(1) or "1"
        x += self.r.choice(("", "", ".T"))
        y += self.r.choice(("", "", ".T"))
        return self.form((f"({x} @ {y})", f"np.dot({x}, {y})", f"{x}.dot({y})", f"np.matmul({x}, {y})"), (f"np.outer({x}, {y})", f"np.inner({x}, {y})", f"np.vdot({x}, {y})"))

    def e_create(self, level):
        x = self.atom()
        c = self.r.choice(NUMBERS)
        return self.r.choice((
            f"np.zeros({x}.shape)", f"np.ones({x}.shape, dtype={x}.dtype)", f"np.full({x}.shape, {c})", f"np.zeros_like({x})", f"np.ones_like({x})", f"np.full_like({x}, {c})",
            f"np.zeros((2, 3), dtype={self.dtype()})", f"np.zeros({x}.shape[::-1], order='F')", f"np.full((3,), {c})", f"np.zeros_like({x}, dtype={self.dtype()})", "np.ones(())", f"np.ones({x}.size)",
        ))  # fmt: skip

    def e_choose(self, level):
        x, y = self.operand(level), self.operand(level)
        name = self.atom()
        return self.r.choice((f"({x} if {name}.ndim > 1 else {y})", f"({x} if {name}.shape[0] > 2 else {y})", f"({x} if {name}.size else {y})", f"(lambda t: t * t + {y})({x})", f"({x}, {y})[0]", f"[{x}, {y}][-1]",
                              f"({x} if {name}.dtype == np.float64 else {y})", f"sum([{x}, {y}])" if self.r.random() < 0.1 else f"({x}, {y})[1]"))  # fmt: skip

    def e_call(self, level):
        """A call of a helper, written for these arguments or before."""
        helpers = self.names["_helpers"]
        x, y = self.operand(level), self.operand(level)
        if self.depth >= 2 or (helpers and self.r.random() < 0.4):
            return f"h{self.r.randrange(len(helpers))}({x}, y={y})" if helpers else None
        a, b = self.value(x), self.value(y)
        if a is None or b is None:
            return None
        inner = Grower(self.r, dict(self.names, x=a, y=b), ["x", "y"], self.depth + 1)
        inner.grow(self.r.randint(0, 2))
        text = "\n".join(inner.lines + [f"return {inner.expression(1)}"])
        helpers.append(f"def h{len(helpers)}(x, y=2.0):\n" + _indent(text))
        exec(helpers[-1], self.names)
        return f"h{len(helpers) - 1}({x}, {y})"

    # Statements: methods that return source text.

    def fresh(self):
        self.count += 1
        return f"v{self.count}" if self.depth == 0 else f"w{self.count}"

    def target(self, store=False):
        found = [n for n in self.arrays() if store or n != "W"]  # W is a global name: it can be stored into, not assigned
        own = [n for n in found if n[0] in "vw"]
        return self.r.choice(own if own and self.r.random() < 0.7 else found) if found else None

    def s_assign(self):
        name = self.fresh() if self.r.random() < 0.85 else self.r.choice([n for n in self.locals if n not in "KW"])
        return f"{name} = {self.expression()}"

    def s_inplace(self):
        op = self.r.choice(INPLACE[: 3 if self.r.random() < 0.7 else None])
        return f"{self.target()} {op} {self.operand(1) if op not in ('**=', '<<=') else self.r.choice('123')}"

    def s_store(self):
        name = self.target(store=True)
        if name is None:
            return None
        index = self.index(self.names[name])
        return f"{name}[{index}] {self.r.choice(('=', '=', '=', '+=', '*=', '-='))} {self.operand(1)}"

    def s_out(self):
        name = self.target(store=True)
        x, y = self.operand(1), self.operand(1)
        return self.r.choice((f"np.{self.r.choice(BINARY)}({x}, {y}, out={name})", f"np.{self.r.choice(UNARY)}({x}, out={name})", f"{self.fresh()} = np.add({x}, {y}, out={name})", f"np.multiply({x}, {y}, {name})",
                              f"np.sum({x}, axis=0, out={name})", f"{name}.fill({self.r.choice(NUMBERS)})", f"np.where({x}, {y}, {name})"))  # fmt: skip

    def s_container(self):
        x, y = self.operand(0), self.operand(1)
        t, u, w = self.fresh(), self.fresh(), self.fresh()
        return self.r.choice((f"{u}, {w} = {x}, {y}", f"{t} = [{x}, {y}]\n{t}.append({x})\n{u} = {t}[1]", f"{t} = {{'x': {x}, 'y': {y}}}\n{u} = {t}['x']", f"{u} = {w} = {x}", f"{t} = ({x}, {y})\n{u} = {t}[0] * {t}[1]",
                              f"{u}, *{w} = ({x}, {y}, {x})", f"{u} = [q * 2 for q in ({x}, {y})][1]"))  # fmt: skip

    def s_loop(self):
        name = self.fresh()
        x = self.operand(0)
        y = self.operand(1)
        rows = self.arrays(1)
        row = self.r.choice(rows) if rows else None
        op = self.r.choice("+-*")
        forms = [f"{name} = {x}\nfor i in range({self.r.randint(0, 4)}):\n    {name} = {name} {op} {y}", f"{name} = {x}\nfor i in range(3):\n    {name} = {name} {op} i",
                 f"{name} = {x}\ni = 0\nwhile i < 3:\n    {name} = {name} {op} {y}\n    i += 1"]  # fmt: skip
        if row:
            forms += [f"{name} = {x}\nfor row in {row}:\n    {name} = {name} {op} row", f"{name} = {x}\nfor i in range(len({row})):\n    {name} = {name} {op} {row}[i]",
                      f"for i in range({row}.shape[0]):\n    {row}[i] = {row}[i - 1] {op} {y}", f"{name} = {x}\nfor i, row in enumerate({row}[:2]):\n    {name} = {name} {op} row * i"]  # fmt: skip
        return self.r.choice(forms)

    def s_branch(self):
        name = self.fresh()
        shaped = self.r.choice(self.arrays(1) or [None])
        if shaped is None:
            return None
        test = self.r.choice((f"{shaped}.shape[0] > 3", f"{shaped}.size == 0", f"len({shaped}) == {shaped}.shape[-1]", f"{shaped}.ndim == 2 and {shaped}.shape[0] > 1", f"{shaped}.dtype == np.int64"))
        return f"if {test}:\n    {name} = {self.expression(1)}\nelse:\n    {name} = {self.expression(1)}"

    def s_alias(self):
        name = self.target()
        if name is None:
            return None
        view = self.fresh()
        return f"{view} = {self.r.choice((name, f'{name}[{self.index(self.names[name])}]', f'{name}.T'))}\n{view} {self.r.choice(('+=', '*='))} {self.operand(1)}"

    def grow(self, n):
        for _ in range(n):
            for _ in range(10):
                text = getattr(self, self.r.choices(STATEMENTS, self.mood)[0])()
                if text is not None and "None" != text.split(" ")[0] and self.run(text):
                    self.lines.append(text)
                    break

    def run(self, text):
        trial = dict(self.names)
        try:
            exec(text, trial)
        except Exception:
            return False
        added = [n for n in trial if n not in self.names and n[0] in "vw" and n[1:].isdigit()]
        if not all(_fits(trial[n]) for n in [*added, *self.locals]):
            return False
        self.names.update(trial)
        self.locals += [n for n in added if n not in self.locals]
        return True


def _fits(value):
    """Whether the value is of a kind that is worth computing with."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.name in DTYPES and value.size <= 4000 and value.ndim <= 4
    if isinstance(value, (tuple, list)):
        return all(map(_fits, value))
    if isinstance(value, dict):
        return all(map(_fits, value.values()))
    return isinstance(value, float) or isinstance(value, int) and abs(value) < 2**62


EXPRESSIONS = tuple(zip(*{"e_operator": 26, "e_unary": 4, "e_ufunc1": 12, "e_ufunc2": 10, "e_select": 7, "e_cast": 5, "e_scalar": 2, "e_index": 10, "e_shape": 10, "e_reduce": 12, "e_product": 4, "e_create": 4,
                          "e_choose": 4, "e_call": 4}.items()))  # fmt: skip
STATEMENTS = "s_assign s_inplace s_store s_out s_container s_loop s_branch s_alias".split()
MOODS = ((60, 10, 8, 4, 5, 4, 4, 4), (60, 10, 8, 4, 5, 4, 4, 4), (15, 20, 25, 10, 2, 8, 1, 20), (70, 5, 2, 1, 10, 1, 10, 1))  # the third one writes


def _indent(text):
    return "".join(f"    {line}\n" for line in text.split("\n"))


class Program:
    """`source` defines f; `calls` are sets of arguments, each a list of lines; `names` are f's parameters, `keywords` those that are given by name."""

    def __init__(self, source, names, calls, keywords):
        self.source, self.names, self.calls, self.keywords = source, names, calls, keywords


def generate(seed, big=False):
    arguments = Arguments(seed)
    rng = random.Random(f"body {seed}")
    first = arguments.draw(first=True)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = evaluate(first)
        names.update(_helpers=[], K=2.5, W=values("float64", 3, 1, "calm"))
        grower = Grower(rng, names, [*arguments.names, "K", "W"])
        grower.grow(rng.randint(1, 9))
        lines = list(grower.lines)
        if rng.random() < 0.05:
            lines.append(f"v0 = {grower.e_operator(0)}")  # this one may raise
        found = [n for n in grower.locals if n != "W" or rng.random() < 0.2]
        chosen = [found[-1], *rng.sample(found, rng.randint(0, min(3, len(found))))]
        if rng.random() < 0.4:
            chosen.append(grower.expression(1))
        form = rng.random()
        if form < 0.3:
            lines.append(f"return {chosen[0]}")
        elif form < 0.8:
            lines.append(f"return {', '.join(chosen)},")
        elif form < 0.9:
            lines.append(f"return [{', '.join(chosen)}]")
        else:
            lines.append("return {" + ", ".join(f"{i}: {x}" for i, x in enumerate(chosen)) + "}")
    helpers = "".join(text + "\n\n" for text in names["_helpers"])
    keywords, parameters = "", ", ".join(arguments.names)
    if len(arguments.names) > 1 and rng.random() < 0.2:
        keywords = arguments.names[-1]
        parameters = ", ".join(arguments.names[:-1]) + rng.choice((f", *, {keywords}", f", {keywords}=None", f", *rest, {keywords}=1.0"))
    function = f"def f({parameters}):\n" + _indent("\n".join(lines))
    if rng.random() < 0.1:
        function = "def enclose(K):\n" + _indent(function.rstrip()) + "    return f\n\n\nf = enclose(0.5)\n"
    source = f"K = 2.5\nW = values('float64', 3, 1, 'calm')\n\n\n{helpers}{function}"
    calls = [first, first, arguments.draw(), arguments.draw(), first, arguments.draw(), arguments.draw()]
    if big and "outer" not in source:
        calls.append(arguments.draw(big=True))
    return Program(source, arguments.names, calls, keywords)
