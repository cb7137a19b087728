#!/bin/sh
# A small agent: looks up the articles of a question in prices.csv. It reads the question on
# standard input and prints one JSON object per line.
question=$(tr 'A-Z' 'a-z')

case $question in
hello*)
  echo '{"role": "assistant", "content": "Hello! What are you looking for?"}'
  echo '{"token_usage": {"input": 12, "output": 8}, "model": "agent.sh"}'
  exit
  ;;
esac

article=$(printf '%s' "$question" | tr -cd 'a-z \n' | awk '{ print $NF }')
price=$(grep "^$article," prices.csv | cut -d , -f 2)
printf '{"role": "assistant", "tool_calls": [{"tool": "look_up", "args": {"article": "%s"}, "output": "%s"}]}\n' \
  "$article" "$price"
if [ -n "$price" ]; then
  printf '{"role": "assistant", "content": "The %s costs %s EUR."}\n' "$article" "$price"
else
  printf '{"role": "assistant", "content": "I do not know the price of the %s."}\n' "$article"
fi
echo '{"token_usage": {"input": 40, "output": 15}, "model": "agent.sh"}'
