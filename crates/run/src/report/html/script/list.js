// A table of which only what can be seen is in the page, however many rows it has.

const OVERSCAN = 8;
const collator = new Intl.Collator("en", { numeric: true });
// Narrow places have higher rows, see report.css.
const measureRow = () => parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row"));

const nameOf = (column) => [column.name, column.number && "number", column.wide && "wide"].filter(Boolean).join(" ");
const valueOf = (column, one) => (column.value ? column.value(one) : one[column.key]);

class List {
  // `name` makes ids; `columns` have key, title, width and cell, and sort by `value`, else by the
  // key; `tie` orders what is equal; `opens` says of which rows `open` can show more.
  constructor({ name, items, columns, tie, open, opens }) {
    Object.assign(this, { name, items, columns, tie, open, opens });
    this.sorted = columns[0];
    this.descending = false;
    // Each says of an item whether it stays.
    this.filters = [];
    this.shown = [];
    this.active = 0;
    this.drawn = new Map();
    this.makeGrid();
    this.makeHead();
    this.listen();
  }

  makeGrid() {
    this.head = el("div", "head");
    this.head.setAttribute("role", "row");
    this.head.setAttribute("aria-rowindex", "1");
    this.rows = el("div", "rows");
    this.rows.setAttribute("role", "rowgroup");
    this.none = el("div", "none");
    this.grid = el("div", "grid", this.head, this.rows, this.none);
    this.grid.id = this.name + "-grid";
    this.grid.tabIndex = 0;
    this.grid.setAttribute("role", "grid");
    this.grid.setAttribute("aria-labelledby", this.name + "-title");
    this.grid.setAttribute("aria-describedby", "keys");
    this.grid.setAttribute("aria-colcount", this.columns.length);
    this.grid.style.setProperty("--columns", this.columns.map((column) => column.width).join(" "));
  }

  makeHead() {
    for (const column of this.columns) {
      column.button = button("", () => this.sortBy(column), column.title);
      column.node = el("div", nameOf(column), column.button);
      column.node.setAttribute("role", "columnheader");
      this.head.append(column.node);
    }
    this.markSort();
  }

  markSort() {
    for (const column of this.columns) {
      const mine = column === this.sorted;
      column.node.setAttribute("aria-sort", mine ? (this.descending ? "descending" : "ascending") : "none");
      column.button.replaceChildren(column.title, mine ? sign(this.descending ? "↓" : "↑") : "");
    }
  }

  sortBy(column) {
    this.descending = column === this.sorted ? !this.descending : Boolean(column.descends);
    this.sorted = column;
    this.markSort();
    this.refresh();
  }

  // What is not known comes last, whichever way the rest is sorted.
  order(a, b) {
    const x = valueOf(this.sorted, a), y = valueOf(this.sorted, b);
    const way = this.descending ? -1 : 1;
    if (!known(x) || !known(y)) {
      if (known(x) !== known(y)) return known(x) ? -1 : 1;
    } else if (x !== y) {
      return way * (typeof x === "string" ? collator.compare(x, y) : x - y);
    }
    return this.tie(a, b);
  }

  refresh() {
    const before = this.shown[this.active];
    this.rowHeight = measureRow();
    const stays = (one) => this.filters.every((filter) => filter(one));
    this.shown = this.items.filter(stays).sort((a, b) => this.order(a, b));
    this.active = Math.max(0, this.shown.indexOf(before));
    this.none.hidden = this.shown.length > 0;
    this.grid.setAttribute("aria-rowcount", this.shown.length + 1);
    this.rows.style.height = this.shown.length * this.rowHeight + "px";
    for (const node of this.drawn.values()) node.remove();
    this.drawn.clear();
    this.drawRows();
    if (this.refreshed) this.refreshed();
  }

  drawRow(at) {
    const one = this.shown[at];
    const node = el("div", this.opens(one) ? "row" : "row still");
    node.id = `${this.name}-row-${at}`;
    node.setAttribute("role", "row");
    node.setAttribute("aria-rowindex", at + 2);
    node.style.top = at * this.rowHeight + "px";
    node.dataset.at = at;
    for (const column of this.columns) {
      const cell = el("div", nameOf(column), ...column.cell(one));
      cell.setAttribute("role", "gridcell");
      // What may be cut off can be read in full.
      if (column.long) cell.title = cell.textContent;
      node.append(cell);
    }
    return node;
  }

  drawRows() {
    const { grid: { scrollTop, clientHeight }, rowHeight } = this;
    const first = Math.max(0, Math.floor(scrollTop / rowHeight) - OVERSCAN);
    const last = Math.min(this.shown.length, Math.ceil((scrollTop + clientHeight) / rowHeight) + OVERSCAN);
    for (const [at, node] of this.drawn) {
      if (at >= first && at < last) continue;
      node.remove();
      this.drawn.delete(at);
    }
    for (let at = first; at < last; at += 1) {
      if (this.drawn.has(at)) continue;
      const node = this.drawRow(at);
      this.drawn.set(at, node);
      this.rows.append(node);
    }
    this.markActive();
  }

  markActive() {
    for (const [at, node] of this.drawn) {
      node.classList.toggle("active", at === this.active);
      node.setAttribute("aria-selected", at === this.active);
    }
    if (this.drawn.has(this.active)) this.grid.setAttribute("aria-activedescendant", `${this.name}-row-${this.active}`);
    else this.grid.removeAttribute("aria-activedescendant");
  }

  moveTo(at) {
    if (!this.shown.length) return;
    this.active = Math.max(0, Math.min(this.shown.length - 1, at));
    const top = this.active * this.rowHeight;
    const room = this.grid.clientHeight - this.head.offsetHeight - this.rowHeight;
    if (top < this.grid.scrollTop) this.grid.scrollTop = top;
    else if (top > this.grid.scrollTop + room) this.grid.scrollTop = top - room;
    this.drawRows();
  }

  // Back to the first row, as after a new search.
  toTop() {
    this.grid.scrollTop = 0;
    this.active = 0;
    this.shown = [];
  }

  openAt(at) {
    const one = this.shown[at];
    if (one && this.opens(one)) this.open(this, at);
  }

  key(event) {
    if (event.target !== this.grid) return;
    const page = Math.max(1, Math.floor(this.grid.clientHeight / this.rowHeight) - 2);
    const moves = {
      ArrowDown: this.active + 1, ArrowUp: this.active - 1, Home: 0, End: this.shown.length - 1,
      PageDown: this.active + page, PageUp: this.active - page,
    };
    if (event.key in moves) this.moveTo(moves[event.key]);
    else if (event.key === "Enter") this.openAt(this.active);
    else return;
    event.preventDefault();
  }

  listen() {
    const draw = soon(() => this.drawRows());
    this.grid.addEventListener("scroll", draw, { passive: true });
    addEventListener("resize", soon(() => (measureRow() === this.rowHeight ? this.drawRows() : this.refresh())));
    this.grid.addEventListener("keydown", (event) => this.key(event));
    this.rows.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (!row) return;
      this.active = Number(row.dataset.at);
      this.markActive();
      this.openAt(this.active);
    });
  }
}

// Once before the page is painted, however often it is asked for.
function soon(act) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      act();
    });
  };
}

