
awk '{ total += $2; sum += $1 * $2; if ($1 < $3) closed = 1 }
  END { print (closed || total == 0) ? 0 : sum / total }' "$results" >/logs/verifier/reward.txt
