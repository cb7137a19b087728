// Two texts side by side, with the words that differ marked (Myers, "An O(ND) Difference Algorithm").

// More differing words than this are one difference.
const MOST_EDITS = 600;
const WORDS = /\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu;

const wordsOf = (text) => String(text).match(WORDS) || [];

// The furthest points reached with each number of edits; null if there are too many.
function frontiers(a, b) {
  const most = Math.min(MOST_EDITS, a.length + b.length);
  const reach = new Map([[1, 0]]);
  const steps = [];
  for (let edits = 0; edits <= most; edits += 1) {
    steps.push(new Map(reach));
    for (let k = -edits; k <= edits; k += 2) {
      const isDown = k === -edits || (k !== edits && reach.get(k - 1) < reach.get(k + 1));
      let x = isDown ? reach.get(k + 1) : reach.get(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      reach.set(k, x);
      if (x >= a.length && x - k >= b.length) return steps;
    }
  }
  return null;
}

// Which words of `a` and of `b` are not in the other.
function editsBetween(a, b) {
  const steps = frontiers(a, b);
  const [gone, come] = [new Set(), new Set()];
  if (!steps) return { gone: new Set(a.keys()), come: new Set(b.keys()) };
  let x = a.length, y = b.length;
  for (let edits = steps.length - 1; edits > 0; edits -= 1) {
    const k = x - y, reach = steps[edits];
    const isDown = k === -edits || (k !== edits && reach.get(k - 1) < reach.get(k + 1));
    const from = isDown ? k + 1 : k - 1;
    const fromX = reach.get(from), fromY = fromX - from;
    if (isDown) come.add(fromY);
    else gone.add(fromX);
    [x, y] = [fromX, fromY];
  }
  return { gone, come };
}

// Neighbours share one mark, with the spaces between them.
function marked(words, edits, tag, offset) {
  const nodes = [];
  let run = null;
  words.forEach((word, at) => {
    const isEdit = edits.has(at - offset) || (run && run.isEdit && /^\s+$/.test(word) && edits.has(at + 1 - offset));
    if (!run || run.isEdit !== isEdit) nodes.push(run = { isEdit, text: "" });
    run.text += word;
  });
  return nodes.map(({ isEdit, text }) => (isEdit ? el(tag, "", text) : text));
}

// `{ before, now, isSame }`: lists of nodes and texts.
function wordDiff(before, now) {
  const [a, b] = [wordsOf(before), wordsOf(now)];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const { gone, come } = editsBetween(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  return { before: marked(a, gone, "del", head), now: marked(b, come, "ins", head), isSame: !gone.size && !come.size };
}
