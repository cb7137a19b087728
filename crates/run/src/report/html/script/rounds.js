// The rounds of a run as they happened: the difference after each look, with its limits.

const rounds = byId("rounds-data") && read("rounds-data");
const ROW = 30;

function roundRows(found, width) {
  const seen = found.looks.filter((look) => known(look.delta));
  const margin = Math.min(1, rounds.margin);
  const reach = seen.flatMap((look) => [look.low, look.high]).concat(0, margin, -margin);
  const span = Math.max(0.02, Math.max(...reach) - Math.min(...reach));
  const from = Math.min(...reach) - span * 0.06, to = Math.max(...reach) + span * 0.06;
  const left = 64, top = 20, bottom = top + ROW * rounds.most, height = bottom + 22;
  const px = (share) => left + ((share - from) / (to - from)) * (width - left - 8);
  const nodes = [
    svg("rect", { x: px(-margin), y: top, width: Math.max(1, px(margin) - px(-margin)), height: bottom - top, class: "margin" }),
    ...ticks(from, to, width - left).flatMap((at) => [
      upright(px(at), top, bottom, "rule"),
      label(px(at), height - 5, points(at)),
    ]),
    upright(px(0), top - 4, bottom, "zero"),
    label(left, 11, "← worse", "start"),
    label(width, 11, "better →", "end"),
  ];
  for (let round = 1; round <= rounds.most; round += 1) {
    const y = top + ROW * (round - 0.5);
    const look = found.looks.find((one) => one.round === round);
    nodes.push(label(0, y + 4, `round ${round}`, "start", look ? "label" : ""));
    if (!look) nodes.push(label(px(0) + 6, y + 4, found.stopped ? "not needed" : "not run", "start"));
    else if (known(look.delta)) {
      nodes.push(svg("g", { class: "now" }, svg("title", {}, look.words),
        level(px(look.low), px(look.high), y, "whisker"),
        svg("circle", { cx: px(look.delta), cy: y, r: 4.5, class: "mark" })));
    }
  }
  return canvas(width, height, found.looks.map((look) => look.words).join("; "), ...nodes);
}

function drawRounds() {
  if (!rounds) return;
  const place = byId("rounds");
  place.hidden = false;
  place.replaceChildren();
  for (const found of rounds.comparisons) {
    const lines = el("ol", "looks", ...found.looks.map((look) => el("li", "", look.words)));
    const note = rounds.beyond && el("p", "muted", rounds.beyond);
    plot(place, found.title, found.headline, (width) => roundRows(found, width), lines, note);
  }
}
