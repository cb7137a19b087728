// Draws the page and listens to keys. The only file that acts by itself.

function pageKey(event, tables) {
  const typing = event.target.closest("input, select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey || typing) return;
  const { list, bar } = tables.current;
  const by = { j: 1, k: -1 }[event.key];
  if (by && dialog.open) step(by);
  else if (by) {
    if (document.activeElement === list.grid) list.moveTo(list.active + by);
    list.grid.focus();
  } else if (event.key === "/" && !dialog.open) bar.search.focus();
  else return;
  event.preventDefault();
}

function start() {
  startTheme();
  drawTop();
  drawSummary();
  const tests = drawComparison();
  drawDistribution();
  drawCosts();
  drawRates();
  drawHistory();
  drawPlots();
  const all = drawCases();
  // Keys of the page go to the table that was used last.
  const tables = { current: all };
  for (const table of [tests, all].filter(Boolean)) {
    table.list.grid.parentElement.addEventListener("focusin", () => { tables.current = table; });
  }
  document.addEventListener("keydown", (event) => pageKey(event, tables));
  addEventListener("resize", soon(drawPlots));
  listenToCase();
  openFromAddress(all.list);
}

start();
