// The filters above a list: buttons, choices and a search.

// Made when it is first asked for, and kept.
function haystack(one, words) {
  if (one.hay === undefined) one.hay = words(one).filter(Boolean).join("\n").toLowerCase();
  return one.hay;
}

class Bar {
  // `nouns` are of one and of many; `words` are what the search looks through.
  constructor(list, { title, nouns, hint, words }) {
    Object.assign(this, { list, nouns });
    this.resets = [];
    this.heading = el("h2", "", title);
    this.heading.id = list.name + "-title";
    this.status = el("span", "muted shown");
    this.status.setAttribute("role", "status");
    this.chips = el("div", "chips");
    this.chips.setAttribute("role", "group");
    this.picks = el("div", "picks");
    this.search = this.makeSearch(hint, words);
    this.node = el("div", "bar", this.heading, this.status, this.chips, this.picks, this.search);
    put(list.none, [el("p", "", `No ${nouns[0]} matches.`), button("plain reset", () => this.reset(), `Show all ${nouns[1]}`)]);
    list.refreshed = () => this.tell();
  }

  tell() {
    const [some, all] = [this.list.shown.length, this.list.items.length];
    const noun = all === 1 ? this.nouns[0] : this.nouns[1];
    this.status.textContent = some === all ? `${count(all)} ${noun}` : `${count(some)} of ${count(all)} ${noun}`;
  }

  // Buttons by word; several may be pressed. `marks` are `{ word, tone, n }`.
  addChips(title, marks, has) {
    const chosen = new Set();
    this.chips.setAttribute("aria-label", title);
    for (const { word, tone, n } of marks.filter((mark) => mark.n > 0)) {
      const chip = button("plain chip " + tone, () => {
        if (!chosen.delete(word)) chosen.add(word);
        chip.setAttribute("aria-pressed", chosen.has(word));
        this.list.refresh();
      }, el("i"), word, el("b", "", count(n)));
      chip.setAttribute("aria-pressed", "false");
      this.chips.append(chip);
      this.resets.push(() => chip.setAttribute("aria-pressed", "false"));
    }
    this.resets.push(() => chosen.clear());
    this.list.filters.push((one) => !chosen.size || [...chosen].some((word) => has(one, word)));
  }

  addPick(key, title) {
    const select = el("select");
    select.setAttribute("aria-label", title);
    select.append(new Option(`Every ${key}`, ""));
    const names = [...new Set(this.list.items.map((one) => one[key]))].sort(collator.compare);
    // A name may be empty, so choices are numbers.
    names.forEach((name, at) => select.append(new Option(seen(name), at)));
    select.addEventListener("change", () => this.list.refresh());
    this.picks.append(select);
    this.resets.push(() => { select.value = ""; });
    this.list.filters.push((one) => select.value === "" || one[key] === names[Number(select.value)]);
  }

  makeSearch(hint, words) {
    const input = el("input");
    let asked = [];
    const look = () => {
      asked = input.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
      this.list.toTop();
      this.list.refresh();
    };
    Object.assign(input, { type: "search", placeholder: hint, autocomplete: "off", spellcheck: false });
    input.setAttribute("aria-label", hint);
    input.setAttribute("aria-keyshortcuts", "/");
    input.addEventListener("input", look);
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && input.value) {
        input.value = "";
        look();
      } else if (["Escape", "Enter", "ArrowDown"].includes(event.key)) this.list.grid.focus();
      else return;
      event.preventDefault();
    });
    this.resets.push(() => {
      input.value = "";
      asked = [];
    });
    this.list.filters.push((one) => asked.every((word) => haystack(one, words).includes(word)));
    return input;
  }

  reset() {
    for (const act of this.resets) act();
    this.list.refresh();
    this.list.grid.focus();
  }
}

