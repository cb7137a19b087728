"""An agent to start from: reads a prompt from standard input and prints the answer."""

import sys

prompt = sys.stdin.read().strip()
print(f"Hello! You said: {prompt}")
