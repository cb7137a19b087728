"""Starts an agent that speaks the Agent Client Protocol, and makes it say that it cannot load sessions.

usage: without_loading.py PROGRAM [ARGUMENT]…
"""

import json
import subprocess
import sys


def without_loading(line):
    """A message of the agent; its answer to `initialize` loses the capability, others stay as they are."""
    try:
        message = json.loads(line)
        capabilities = message["result"]["agentCapabilities"]
    except (ValueError, KeyError, TypeError):
        return line
    capabilities["loadSession"] = False
    capabilities.pop("sessionCapabilities", None)
    return json.dumps(message).encode() + b"\n"


agent = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
for line in agent.stdout:
    sys.stdout.buffer.write(without_loading(line))
    sys.stdout.buffer.flush()
sys.exit(agent.wait())
