"""Text that the process has a say in: codecs and their error handlers, the locale, the limit of digits, python -b."""

import codecs
import subprocess
import sys

import numpy as np
import pytest

import jitney

calls = []


def count(error):
    calls.append(error.object)
    return "?" * len(calls), error.end


codecs.register_error("jitney.count", count)
DATA, TEXT = b"a\xff\xfe", "a\xe9\u20ac"
DIGITS = "7" * 1000


def decodes(x):
    return x + 1, DATA.decode("ascii", "jitney.count")


def decodes_by_name(x):
    return x + 1, DATA.decode(errors="jitney.count")


def encodes(x):
    return x + 1, TEXT.encode("latin-1", "jitney.count")


def makes_text(x):
    return x + 1, str(DATA, "utf-8", "jitney.count")


def makes_bytes(x):
    return x + 1, bytes(TEXT, "ascii", "jitney.count")


@pytest.mark.parametrize("f", [decodes, decodes_by_name, encodes, makes_text, makes_bytes])
def test_a_programs_handler_is_asked_once_at_each_call(f):
    def results(g):
        calls.clear()
        return [g(x)[1] for x in (1.0, 2.0, 3.0)], list(calls)

    assert results(jitney.compile(f)) == results(f)


def clean(x):
    return x * 2.0 + len("a\xe9".encode()) + len("\xe9".encode("UTF-8")) + len("\xe9".encode("ISO_8859-1")) + len(b"abc".decode("ascii", "replace")) + len(bytes("\xe9", "latin-1")), "{:>8.2f}".format(1.5) + format(7, "05d")


def test_what_asks_nobody_is_done_in_advance():
    x = np.arange(3.0)
    f = jitney.compile(clean, fullgraph=True)
    for _ in range(2):
        assert f(x)[0].tolist() == clean(x)[0].tolist() and f(x)[1] == clean(x)[1]


def by_codec(x):
    return x + 1.0, "ab".encode("rot13" if x is None else "utf-7")


def by_locale(x):
    return x + 1.0, format(1234567, "n")


def by_template(x):
    return x + 1.0, "{:n}".format(1234567)


def by_spec(x):
    return x + 1.0, f"{1234567:n}"


@pytest.mark.parametrize("f", [by_codec, by_locale, by_template, by_spec])
def test_the_reason_has_a_name(f):
    x = np.arange(3.0)
    assert "AMBIENT" in {row["name"] for row in jitney.explain(f)(x).refusals}
    assert jitney.compile(f)(x)[1] == f(x)[1]


def number_of_text(x):
    return x + 1.0, int(DIGITS) % 1000


def text_of_number(x):
    return x + 1.0, len(str(10**999)), len(f"{10**999}"), len("%d" % 10**999)


@pytest.mark.parametrize("f", [number_of_text, text_of_number])
def test_the_limit_of_digits_is_the_one_of_the_call(f):
    x, g = np.arange(3.0), jitney.compile(f)
    before = sys.get_int_max_str_digits()
    try:
        for limit in (4300, 700, 0):
            sys.set_int_max_str_digits(limit)
            if limit == 700:
                with pytest.raises(ValueError, match="limit"):
                    f(x)
                with pytest.raises(ValueError, match="limit"):
                    g(x)
            else:
                assert g(x)[1:] == f(x)[1:]
    finally:
        sys.set_int_max_str_digits(before)


BYTES_WARNINGS = """
import warnings, numpy as np, jitney
def f(x):
    return x + 1.0, b"a" == "a", str(b"x")
for g in (f, jitney.compile(f)):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        g(np.arange(3.0))
    print([(str(w.message), w.lineno) for w in seen])
"""


def test_bytes_that_meet_text_warn_once():
    done = subprocess.run([sys.executable, "-b", "-c", BYTES_WARNINGS], capture_output=True, text=True, check=True)
    eager, ours = done.stdout.splitlines()
    assert eager == ours and "bytes" in eager
