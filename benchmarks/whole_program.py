"""Programs that gain nothing (programs.py), plain and in whole-program mode: processes in turns, after warm-up."""

import json
import pathlib
import subprocess
import sys

from common import Row
from jitney.bench import Spread

PROGRAMS = pathlib.Path(__file__).with_name("programs.py")
NAMES = ("tasks", "constraints", "documents", "patterns")
PAIRS = 5


def median_round(prefix, name, seconds):
    done = subprocess.run([sys.executable, *prefix, str(PROGRAMS), name, str(seconds)], check=True, capture_output=True, text=True)
    took = sorted(json.loads(done.stdout))
    return took[len(took) // 2]


def rows(seconds):
    for name in NAMES:
        ratios = []
        for _ in range(PAIRS):
            plain = median_round([], name, seconds)
            ratios.append(plain / median_round(["-m", "jitney", "run"], name, seconds))
        # 3.11 has to keep the eval-frame hook, which costs every call: measured, not promised
        yield Row(f"whole-program mode, {name}", Spread.of(ratios), "x", 0.95 if sys.version_info >= (3, 12) else None)
