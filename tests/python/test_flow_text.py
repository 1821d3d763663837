"""Characters of text inside native loops."""

import copy
import string
import traceback
import warnings

import pytest

import jitney

pytestmark = pytest.mark.usefixtures("executors")
WORD = "kitten sitting on a Mitten, 42 times: {[(x+1)*2]-(y)}"
OTHER = "sitting kitten at 7"
VOWELS = "aeiou"


def outcome(f, args):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            result = f(*args)
        except Exception as e:
            lines = [frame.lineno for frame in traceback.extract_tb(e.__traceback__) if frame.filename == __file__]
            result = type(e), "message: " + str(e), lines
    return picture(result), picture(args), [(str(w.message), w.category, w.lineno) for w in found]


def picture(v):
    if isinstance(v, (tuple, list)):
        return type(v), [picture(x) for x in v]
    is_char = type(v) is str and len(v) == 1 and v.isascii()
    return type(v), repr(v), id(v) if is_char else 0


def same(f, *args, native=True, calls=3):
    compiled = jitney.compile(f)
    for _ in range(calls):
        assert outcome(compiled, copy.deepcopy(args)) == outcome(f, copy.deepcopy(args))
    if native:
        assert jitney.inspect(compiled).stats()["flow_calls"] > 0
    return compiled


# ---- programs ----


def hashed(s):
    h = 5381
    for c in s:
        h = (h * 33 + ord(c)) & 0xFFFFFFFF
    return h, c


def distance(s, t):
    row = list(range(len(t) + 1))
    for i in range(len(s)):
        before, row[0] = row[0], i + 1
        for j in range(len(t)):
            cost = 0 if s[i] == t[j] else 1
            before, row[j + 1] = row[j + 1], min(row[j + 1] + 1, row[j] + 1, before + cost)
    return row[-1]


def longest_common(s, t):
    table = []
    for _ in range(len(s) + 1):
        table.append([0] * (len(t) + 1))
    for i, a in enumerate(s):
        for j, b in enumerate(t):
            table[i + 1][j + 1] = table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1], a, b


def palindrome(s):
    best, at = 0, 0
    for centre in range(len(s)):
        low, high = centre - 1, centre + 1
        while low >= 0 and high < len(s) and s[low] == s[high]:
            low, high = low - 1, high + 1
        if high - low > best:
            best, at = high - low, low
    return best, at


def numbers(s):
    total, value, inside = 0, 0, False
    for c in s:
        if c.isdigit():
            value = value * 10 + int(c)
            inside = True
        elif inside:
            total += value
            value, inside = 0, False
    return total + value


def classes(s):
    a = b = c = d = e = f = g = h = 0
    for k in range(len(s)):
        x = s[k]
        a += x.isalpha()
        b += x.isalnum()
        c += x.isspace()
        d += x.isupper()
        e += x.islower()
        f += x.isidentifier() + 2 * x.isprintable() + 4 * x.isascii()
        g += ord(x.upper()) - ord("A")
        h ^= ord(x.lower())
    return a, b, c, d, e, f, g, h


def sets(s):
    n = [0] * 6
    for c in s:
        n[0] += c in VOWELS
        n[1] += c not in "xyz{"
        n[2] += c in ("a", "e", "long", "")
        n[3] += c in {"(", "[", "{"}
        n[4] += c in ""
        n[5] += c in "é€aб"
    return n


def orders(s):
    n, before = 0, ""
    for c in s:
        n = n * 3 % 1000003 + (c < "m") + 2 * (c <= "m") + 4 * ("m" > c) + 8 * (c >= "é") + 16 * (c != "long") + 32 * (c == "")
        if c == before:
            n += 1
        if before and before < c:
            n += 7
        before = c
    return n, before


def runs(s):
    longest, length, last = 0, 0, None
    for c in s:
        if last is None or c != last:
            length = 0
        length += 1
        longest = max(longest, length)
        last = c
    return longest, last


def ways(s, t):
    n = 0
    for a, b in zip(s, t):
        n += a == b
    for i, c in enumerate(s, 3):
        n += i * (c == "t")
    for c in reversed(s):
        n = (n * 5 + ord(c)) % 10007
    for c in "constant":
        n += ord(c)
    k = 0
    while k < len(t) and t[k] != "g":
        k += 1
    return n, a, b, c, k, s[-1], t[k]


def shifted(s, by):
    h = 0
    for c in s:
        if "a" <= c <= "z":
            c = chr((ord(c) - ord("a") + by) % 26 + 97)
        elif c.isupper():
            c = chr((ord(c) - 65 + by) % 26 + 65)
        h = (h * 31 + ord(c)) % 1000003
    return h, c, (c, s[0], [s[1], c])


def deep(s, opening):
    depth = worst = 0
    for c in s:
        if c == opening:
            depth += 1
        elif c in ")]}":
            depth -= 1
        worst = max(worst, depth)
    return worst, depth


PROGRAMS = [
    (hashed, WORD),
    (distance, WORD, OTHER),
    (longest_common, WORD, OTHER),
    (palindrome, WORD),
    (numbers, WORD),
    (classes, WORD),
    (sets, WORD),
    (orders, WORD),
    (runs, WORD * 2 + "aaaabb"),
    (ways, WORD, OTHER),
    (shifted, WORD, 3),
    (deep, WORD, "("),
    (classes, "".join(map(chr, range(128)))),
    (sets, "".join(map(chr, range(128)))),
    (orders, "".join(map(chr, range(127, -1, -1)))),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=[p[0].__name__ for p in PROGRAMS])
@pytest.mark.parametrize("executor, every", [("llvm", 0), ("llvm", 2), ("loop", 0), ("loop", 1), ("loop", 3)])
def test_programs(program, executor, every):
    jitney.config.executor, jitney.config.exit_every = executor, every
    same(*program)


class Str(str):
    def __getitem__(self, key):
        return "x"

    def __iter__(self):
        return iter("yz")


class Equal:
    def __eq__(self, other):
        return True

    def __repr__(self):
        return "Equal()"

    __hash__ = None


OTHERS = ["", "a", "naïve ünïcode", "日本語 text", "\U0001f600 smile", "a\0b\0", Str("hello"), b"bytes", "x" * 3000, ["a", "bc"], ("l", "m", ""), None, 3, {"a": 1}]


@pytest.mark.parametrize("program", PROGRAMS[:12], ids=[p[0].__name__ for p in PROGRAMS[:12]])
def test_other_text_behind_ascii(program):
    """One compiled function for all: an entry of ASCII text meets others."""
    f, s, *rest = program
    for executor in ("llvm", "loop"):
        jitney.config.executor = executor
        compiled = jitney.compile(f)
        for one in [s, *OTHERS, s, *OTHERS]:
            assert outcome(compiled, (one, *rest)) == outcome(f, (one, *rest)), one
        for one in OTHERS:
            same(f, one, *rest, native=False)
            for k in range(len(rest)):
                args = (s, *rest[:k], one, *rest[k + 1 :])
                assert outcome(compiled, args) == outcome(f, args), one


def test_what_is_compared_with_a_character():
    def f(s, other):
        n = 0
        for c in s:
            n = n * 2 + (c == other)
            n ^= other != c
            n &= 0xFFFF
        return n

    compiled = jitney.compile(f)
    for other in ("t", "tt", "", "é", "\0", 1, None, Equal(), Str("t"), b"t", "t", chr(0x1F600), ["t"]):
        assert outcome(compiled, (WORD, other)) == outcome(f, (WORD, other)), other
        same(f, WORD, other, native=False)


def by_index(s, places):
    h = 0
    for k in places:
        h = (h * 7 + ord(s[k])) % 65536
    return h


def made(codes):
    h, c = 0, "-"
    for k in codes:
        c = chr(k)
        h = (h * 7 + ord(c)) % 65536
    return h, c


def digits(s):
    total = 0
    for c in s:
        total = total * 10 + int(c)
    return total


@pytest.mark.parametrize("executor", ["llvm", "loop"])
def test_what_raises(executor):
    jitney.config.executor = executor
    same(by_index, "abc", [0, 1, 2, -1, -3] * 5)
    for place in (3, -4, 2**63, 2**100, True, 1.0, None, "0", slice(0, 1)):
        same(by_index, "abc", [0, 1, 2] * 5 + [place, 1], native=False)
    same(made, [97, 0, 127, 65] * 5)
    for code in (128, 255, 256, 0x10FFFF, 0x110000, -1, 2**40, 2**70, True, 1.0, None, "a", 0xD800):
        same(made, [97, 0, 127, 65] * 5 + [code, 66], native=False)
        same(made, [97, 0, 127, 65] * 5 + [code], native=False)
    same(digits, "0123456789" * 3)
    for c in " a-+/:²٣é\0":
        same(digits, "0123456789" * 3 + c + "1", native=False)


def test_a_character_that_nobody_has_set():
    def f(s, n):
        for i in range(n):
            if i > 3:
                c = s[i]
            if i > n - 3 and c == "q":
                break
        return c

    same(f, WORD, 10)
    same(f, WORD, 3, native=False)
    same(f, WORD, 0, native=False)


def test_what_flows_do_not_have_goes_on_in_the_interpreter():
    def f(s, d):
        out, text, n = [], "", 0
        for c in s:
            out.append(c)
            text += c
            d[c] = d.get(c, 0) + 1
            n += c.isdigit() + len(c) + (c * 2 == "tt") + (c + "t" == "tt") + s.count(c)
            n += hash(c) == hash(str(c)) and c.startswith("k")
            x = f"{c}!" + c.join("ab") + c.replace("t", "s")
        return out, text, d, n, x, c

    for s in (WORD, "", "é", "aé"):
        same(f, s, {}, native=False)


def test_text_that_a_function_is_given():
    def count(s, c):
        n = 0
        for x in s:
            if x == c:
                n += 1
        return n

    def f(s, t):
        total = 0
        for c in t:
            total = total * 3 % 10007 + count(s, c) + count(t, "i")
        return total

    for one in (WORD, "naïve", ""):
        same(f, one, OTHER, native=False)
        same(f, OTHER, one, native=False)
    same(f, WORD, OTHER)


def test_a_loop_that_goes_on_behind_a_stop():
    def f(s):
        h = 0
        for c in s:
            h = (h * 31 + ord(c)) % 1000003
            if c == "%":
                print(end="")
        return h, c

    same(f, string.printable * 20)
    same(f, string.printable * 20 + "é", native=False)


def test_the_iterator_is_the_interpreters():
    def f(s, n):
        it = iter(s)
        h = 0
        for c in it:
            h = h * 3 % 1009 + ord(c)
            if c == "t":
                break
        rest = next(it, None)
        for i in range(n):
            h += i
        return h, rest, list(it)

    for s in (WORD, "t", "", "aé"):
        same(f, s, 5, native=False)
