// The verdict on the run beside its baseline, and what it rests on.

const VERDICTS = { better: "passed", equivalent: "passed", "not-worse": "passed", worse: "failed", inconclusive: "borderline" };

function sideText(side) {
  if (!side) return "–";
  const passes = side.trials > 0 && `${count(side.passes)} of ${count(side.trials)}`;
  const errors = side.errors > 0 && `${count(side.errors)} errored`;
  return [passes, errors].filter(Boolean).join(", ") || "–";
}

function verdictCard() {
  const tone = VERDICTS[compared.verdict] || "skipped";
  const heading = el("h2", "name", "Against ", el("span", "base", compared.base));
  heading.id = "verdict-title";
  const [first, ...rest] = compared.facts;
  return el("div", "card verdict " + tone,
    heading,
    el("div", "value", compared.title),
    el("p", "", compared.sentences.join(" ")),
    first && facts([first, ...rest.slice(0, 1)]),
    compared.usage.length > 0 && el("p", "muted usage", compared.usage.join(" · ")),
    rest.length > 1 && more("How it was judged", facts(rest.slice(1))));
}

// Round steps, and no more of them than have room for their words.
function ticks(from, to, width) {
  const steps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];
  const most = Math.max(3, width / 64);
  const step = steps.find((one) => (to - from) / one <= most) || 1;
  const first = Math.ceil(from / step - 1e-9), last = Math.floor(to / step + 1e-9);
  const all = Array.from({ length: last - first + 1 }, (_, n) => (first + n) * step);
  return all.filter((at) => Math.abs(at) < 1 + 1e-9);
}

function difference(width) {
  const { delta, low, high, label: text, words } = compared.difference;
  const margin = Math.min(1, compared.difference.margin);
  const reach = [0, delta, low, high, margin, -margin];
  const span = Math.max(0.02, Math.max(...reach) - Math.min(...reach));
  const from = Math.min(...reach) - span * 0.12, to = Math.max(...reach) + span * 0.12;
  const height = 180, top = 22, bottom = height - 22, y = (top + bottom) / 2 + 6;
  const px = (share) => 8 + ((share - from) / (to - from)) * (width - 16);
  const nodes = [
    svg("rect", { x: px(-margin), y: top, width: Math.max(1, px(margin) - px(-margin)), height: bottom - top, class: "margin" }),
    ...ticks(from, to, width).flatMap((at) => [
      upright(px(at), top, bottom, "rule"),
      label(px(at), height - 5, points(at)),
    ]),
    upright(px(0), top - 6, bottom, "zero"),
    label(0, 11, "← worse", "start"),
    label(width, 11, "better →", "end"),
    level(px(low), px(high), y, "range"),
    ...[low, high].map((end) => upright(px(end), y - 7, y + 7, "cap")),
    svg("circle", { cx: px(delta), cy: y, r: 6, class: "mark" }),
    label(px(delta), y - 15, text, "middle", "strong"),
  ];
  return canvas(width, height, words, ...nodes);
}

function drawVerdict() {
  if (!compared) return;
  const place = byId("verdict");
  place.hidden = false;
  place.replaceChildren(verdictCard());
  if (!compared.difference) return place.classList.add("alone");
  plot(place, compared.difference.title, compared.difference.note, difference);
  place.lastChild.classList.add(VERDICTS[compared.verdict] || "skipped");
}
