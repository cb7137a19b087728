"""What pre-commit installs from this repository: nothing of its own, and the wheel of the same version.

`pip install evalrig-cli` installs evalrig itself.
"""

import pathlib
import re

from setuptools import setup

manifest = pathlib.Path(__file__).with_name("Cargo.toml").read_text(encoding="utf-8")
version = re.search(r'^\[workspace\.package\]\nversion = "(.+)"$', manifest, re.M).group(1)

setup(
    name="evalrig-pre-commit",
    version=version,
    py_modules=[],
    install_requires=[f"evalrig-cli=={version}"],
)
