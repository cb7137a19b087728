// A run that goes on: rows arrive as events and are shown at once.

let isOver = !setting("live");

function progressNode() {
  const done = tests.reduce((sum, one) => sum + one.cases.length, 0);
  const planned = run.planned || 0;
  const text = planned ? `Running: ${count(done)} of ${counted(planned, "case", "cases")}` : `Running: ${counted(done, "case", "cases")}`;
  const bar = planned > 0 && having(el("progress"), { max: planned, value: Math.min(done, planned), "aria-label": "Progress of the run" });
  return [el("span", "pulse"), el("span", "", text), bar, ...workerLines()];
}

// What workers of a queue do now, by name.
let workersNow = {};

// Those that are there, and those that were, with how many cases each has finished.
function workerLines() {
  const gone = (run.origin.workers || []).filter(([name]) => !Object.hasOwn(workersNow, name));
  const lines = [...Object.entries(workersNow), ...gone.map(([name, rows]) => [name, counted(rows, "case", "cases")])];
  return lines.map(([name, text]) => el("span", "worker", `${name}: ${text}`));
}

function tellState(words) {
  const place = byId("live");
  place.hidden = isOver && !words;
  place.replaceChildren();
  put(place, words ? [words] : isOver ? [] : progressNode());
}

function drawAgain() {
  drawTop();
  drawSummary();
  drawPanels();
  for (const draw of testTable.redraw) draw();
  testTable.list.refresh();
  tellState();
  if (dialog.open && current) {
    const same = current.test.cases.find((one) => one.trial === current.trial);
    if (same && same !== current) showTrial(same);
  } else if (address.has("test")) openFromAddress();
}

// Rows come in bursts; one drawing shows them all. A long list takes longer and is drawn less often.
function batched(act) {
  let waiting = 0, took = 0;
  return () => {
    if (waiting) return;
    waiting = setTimeout(() => {
      const begun = performance.now();
      waiting = 0;
      act();
      took = performance.now() - begun;
    }, Math.max(40, Math.min(250, took * 2)));
  };
}

function endOf(data) {
  isOver = true;
  if (data.run) run = data.run;
  if (data.compared) {
    compared = data.compared;
    readEarlier(data.earlier || []);
    joinChanges();
    byId("tests-view").replaceChildren();
    testTable.redraw = [];
    drawTests();
  }
  drawAllPlots();
}

function followRun() {
  const place = setting("live");
  if (!place) return;
  const draw = batched(drawAgain);
  const source = new EventSource(place);
  const on = (name, act) => source.addEventListener(name, (event) => { act(JSON.parse(event.data)); draw(); });
  on("run", (data) => { run = data; });
  on("row", addCase);
  on("workers", (data) => { workersNow = data; });
  on("end", (data) => {
    source.close();
    endOf(data);
  });
  source.addEventListener("error", () => { if (!isOver) tellState("The connection to evalrig is lost. Trying again…"); });
  tellState();
}
