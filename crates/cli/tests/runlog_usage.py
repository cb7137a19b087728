import json
import yaml

def load_messages(eval_dir: str, run: int = 1) -> list:
    """Load messages from run YAML file."""
    with open(f"{eval_dir}/run_{run}.yaml") as f:
        data = yaml.safe_load(f)
    return json.loads(data['messages'])

# Load run 1 messages
messages = load_messages(".co/evals/say_hello_to_alice", run=1)

import yaml

with open('.co/evals/say_hello_to_alice/run_1.yaml') as f:
    run_data = yaml.safe_load(f)

print(f"Model: {run_data['model']}")
print(f"System prompt: {run_data['system_prompt']}")
print(f"CWD: {run_data['cwd']}")
print(f"Tokens: {run_data['tokens']}, Cost: ${run_data['cost']}")

import yaml

with open('.co/evals/say_hello_to_alice.yaml') as f:
    data = yaml.safe_load(f)

turn = data['turns'][0]
print(f"Run {turn['run']}: {turn['output']}")

for hist in turn.get('history', []):
    print(f"Run {hist['run']}: {hist['output']}")

import json

turn = data['turns'][0]
meta = json.loads(turn['meta'])
print(f"Tokens: {meta['tokens']}, Cost: ${meta['cost']}, Duration: {meta['duration_ms']}ms")
