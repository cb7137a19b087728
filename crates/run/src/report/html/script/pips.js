// The trials of a test as a row of dots: `2/5 ●●○○○`.

// More than this are a bar.
const MOST_PIPS = 10;

function tally(side) {
  if (!side || !side.trials) return "–";
  return `${count(side.passes)}/${count(side.trials)}`;
}

function shareBar(passes, trials) {
  const fill = el("i", "passed");
  fill.style.width = (passes / trials) * 100 + "%";
  return el("span", "share", fill);
}

function dots(test) {
  if (test.cases.length > MOST_PIPS) return test.judged ? shareBar(test.passes, test.judged) : null;
  return el("span", "dots", ...test.cases.map((one) => el("i", one.outcome)));
}

function pipsText(test) {
  const errors = test.cases.filter((one) => one.outcome === "errored").length;
  const parts = [test.judged && `${count(test.passes)} of ${count(test.judged)} passed`, errors && `${count(errors)} errored`];
  return parts.filter(Boolean).join(", ") || "not run";
}

function pips(test) {
  const before = test.change && test.change.base;
  const node = el("span", "pips",
    before && el("span", "before", tally(before)), before && el("span", "arrow", "→"),
    el("b", "", tally({ passes: test.passes, trials: test.judged })), dots(test));
  const was = before && before.trials ? `, before ${count(before.passes)} of ${count(before.trials)}` : "";
  return having(node, { role: "img", "aria-label": pipsText(test) + was });
}
