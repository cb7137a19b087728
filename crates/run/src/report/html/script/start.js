// Draws the page and listens to keys. The only file that acts by itself.

function caseKey(key) {
  if (key === "j" || key === "k") step(key === "j" ? 1 : -1);
  else if (key === "ArrowRight" || key === "ArrowLeft") stepTrial(key === "ArrowRight" ? 1 : -1);
  else return false;
  return true;
}

function listKey(key) {
  const { list, bar } = testTable;
  const by = { j: 1, k: -1 }[key];
  if (by || key === "/") chooseView("tests");
  if (by) {
    if (document.activeElement === list.table) list.moveTo(list.active + by);
    list.table.focus({ preventScroll: true });
  } else if (key === "/") bar.search.focus();
  else return false;
  return true;
}

function pageKey(event) {
  const typing = event.target.closest("input, select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey || typing) return;
  if (dialog.open ? caseKey(event.key) : listKey(event.key)) event.preventDefault();
}

function drawAllPlots() {
  plots.length = 0;
  byId("plots").replaceChildren();
  drawVerdict();
  drawRounds();
  drawHistory();
  drawRates();
  drawDistribution();
  drawCosts();
  drawPlots();
}

function start() {
  startTheme();
  drawHome();
  drawTop();
  drawSummary();
  drawArms();
  drawTests();
  drawPanels();
  restoreView();
  drawAllPlots();
  document.addEventListener("keydown", pageKey);
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    chooseView("tests");
    testTable.list.table.focus();
  });
  addEventListener("resize", soon(drawPlots));
  listenToTabs();
  listenToCase();
  listenToPrint();
  openFromAddress();
  listenToAddress(() => {
    restoreView();
    testTable.bar.restore();
    openFromAddress();
  });
  followRun();
}

start();
