// A table that scrolls with the page. Only the rows in sight are in it, however many there are.

const OVERSCAN = 8;
const collator = new Intl.Collator("en", { numeric: true });
// Narrow places have higher rows, see list.css.
const measureRow = () => parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row"));

const nameOf = (column) => [column.name, column.number && "number", column.wide && "wide"].filter(Boolean).join(" ");
const valueOf = (column, one) => (column.value ? column.value(one) : one[column.key]);

class List {
  // `name` makes ids; `columns` have key, title, width and cell, and sort by `compare`, else by
  // `value`, else by the key; `tie` orders what is equal; `opens` says of which rows `open` can show more.
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
    this.head = having(el("div", "head"), { role: "row", "aria-rowindex": 1 });
    this.rows = having(el("div", "rows"), { role: "rowgroup" });
    this.none = el("div", "none");
    this.table = having(el("div", "table", having(el("div", "", this.head), { role: "rowgroup" }), this.rows), {
      role: "grid", "aria-labelledby": this.name + "-title", "aria-describedby": "keys",
      "aria-colcount": this.columns.length,
    });
    this.table.id = this.name + "-grid";
    this.table.tabIndex = 0;
    this.table.style.setProperty("--columns", this.columns.map((column) => column.width).join(" "));
    this.grid = this.table;
    this.node = el("div", "grid card", this.table, this.none);
  }

  makeHead() {
    for (const column of this.columns) {
      column.button = button("", () => this.sortBy(column), column.title);
      column.node = having(el("div", nameOf(column), column.button), { role: "columnheader", title: column.hint });
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
    this.setOrder(column, column === this.sorted ? !this.descending : Boolean(column.descends));
    const isUsual = column === this.columns[0] && !this.descending;
    remember({ sort: isUsual ? "" : (this.descending ? "-" : "") + column.key });
    this.refresh();
  }

  setOrder(column, descending) {
    [this.sorted, this.descending] = [column, descending];
    this.markSort();
  }

  restoreOrder() {
    const [, minus, key] = /^(-?)(.*)$/.exec(asked("sort"));
    const column = this.columns.find((one) => one.key === key) || this.columns[0];
    this.setOrder(column, minus === "-");
  }

  // What is not known comes last, whichever way the rest is sorted.
  order(a, b) {
    const way = this.descending ? -1 : 1;
    if (this.sorted.compare) return way * this.sorted.compare(a, b) || this.tie(a, b);
    const x = valueOf(this.sorted, a), y = valueOf(this.sorted, b);
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
    this.table.setAttribute("aria-rowcount", this.shown.length + 1);
    this.rows.style.height = this.shown.length * this.rowHeight + "px";
    for (const node of this.drawn.values()) node.remove();
    this.drawn.clear();
    this.drawRows();
    if (this.refreshed) this.refreshed();
  }

  drawRow(at) {
    const one = this.shown[at];
    const node = having(el("div", this.opens(one) ? "row" : "row still"), { role: "row", "aria-rowindex": at + 2 });
    node.id = `${this.name}-row-${at}`;
    node.style.top = at * this.rowHeight + "px";
    node.dataset.at = at;
    for (const column of this.columns) {
      const cell = having(el("div", nameOf(column), ...column.cell(one)), { role: "gridcell" });
      // What may be cut off can be read in full.
      if (column.long) cell.title = cell.textContent;
      node.append(cell);
    }
    return node;
  }

  // The rows in sight; all of them on paper.
  range() {
    if (this.isPrinted) return [0, Math.min(this.shown.length, this.isPrinted)];
    const above = Math.max(0, -this.rows.getBoundingClientRect().top);
    const first = Math.max(0, Math.floor(above / this.rowHeight) - OVERSCAN);
    const last = Math.ceil((above + innerHeight) / this.rowHeight) + OVERSCAN;
    return [first, Math.min(this.shown.length, last)];
  }

  drawRows() {
    const [first, last] = this.range();
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
    if (this.drawn.has(this.active)) this.table.setAttribute("aria-activedescendant", `${this.name}-row-${this.active}`);
    else this.table.removeAttribute("aria-activedescendant");
  }

  moveTo(at) {
    if (!this.shown.length) return;
    this.active = Math.max(0, Math.min(this.shown.length - 1, at));
    const top = this.rows.getBoundingClientRect().top + this.active * this.rowHeight;
    const under = this.head.offsetHeight, over = innerHeight - this.rowHeight;
    if (top < under) scrollBy(0, top - under);
    else if (top > over) scrollBy(0, top - over);
    this.drawRows();
  }

  // Back to the first row, as after a new search.
  toTop() {
    const top = this.node.getBoundingClientRect().top;
    if (top < 0) scrollBy(0, top);
    this.active = 0;
    this.shown = [];
  }

  openAt(at) {
    const one = this.shown[at];
    if (one && this.opens(one)) this.open(at);
  }

  key(event) {
    if (event.target !== this.table) return;
    const page = Math.max(1, Math.floor(innerHeight / this.rowHeight) - 2);
    const moves = {
      ArrowDown: this.active + 1, ArrowUp: this.active - 1, Home: 0, End: this.shown.length - 1,
      PageDown: this.active + page, PageUp: this.active - page,
    };
    if (event.key in moves) this.moveTo(moves[event.key]);
    else if (event.key === "Enter") this.openAt(this.active);
    else return;
    event.preventDefault();
  }

  // All rows, up to so many, while the page is printed; 0 goes back to those in sight.
  print(most) {
    this.isPrinted = most;
    this.node.classList.toggle("printed", most > 0);
    this.drawRows();
  }

  listen() {
    addEventListener("scroll", soon(() => this.drawRows()), { passive: true });
    addEventListener("resize", soon(() => (measureRow() === this.rowHeight ? this.drawRows() : this.refresh())));
    this.table.addEventListener("keydown", (event) => this.key(event));
    this.rows.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (!row) return;
      this.active = Number(row.dataset.at);
      this.markActive();
      this.openAt(this.active);
    });
  }
}
