// Two views of the run: its tests, and a breakdown of what failed.

const VIEWS = ["tests", "breakdown"];

function showView(name) {
  for (const view of VIEWS) {
    const isShown = view === name;
    byId(view + "-view").hidden = !isShown;
    having(byId("tab-" + view), { "aria-selected": isShown, tabindex: isShown ? 0 : -1 });
  }
  if (name === "breakdown") drawPlots();
}

function chooseView(name) {
  remember({ view: name === VIEWS[0] ? "" : name });
  showView(name);
}

function restoreView() {
  showView(VIEWS.includes(asked("view")) ? asked("view") : VIEWS[0]);
}

function listenToTabs() {
  VIEWS.forEach((view, at) => {
    const tab = byId("tab-" + view);
    tab.addEventListener("click", () => chooseView(view));
    tab.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      const next = VIEWS[(at + by + VIEWS.length) % VIEWS.length];
      chooseView(next);
      byId("tab-" + next).focus();
      event.preventDefault();
    });
  });
}
