"""Stands in for a coding agent: makes the change that the prompt asks for, without a model."""

import pathlib
import sys

prompt = sys.stdin.read()
if "CHANGELOG" in prompt:
    pathlib.Path("CHANGELOG.md").write_text("- Fixed the rounding of totals.\n")
    print("I added a line to CHANGELOG.md.")
else:
    path = pathlib.Path("src/prices.py")
    old = "return sum(round(price, 1) for price in prices)"
    path.write_text(path.read_text().replace(old, "return round(sum(prices), 2)"))
    print("`total` now rounds once, after adding.")
