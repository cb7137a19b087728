export function isShort(output) {
  return { pass: output.length < 10, score: 1, reason: `${output.length} characters` };
}
