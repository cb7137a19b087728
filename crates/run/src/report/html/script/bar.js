// The filters above a list: buttons, choices, a search. The address keeps them.

// Made when it is first asked for, and kept.
function haystack(one, words) {
  if (one.hay === undefined) one.hay = words(one).filter(Boolean).join("\n").toLowerCase();
  return one.hay;
}

class Bar {
  // `nouns` are of one and of many; `words` are what the search looks through.
  constructor(list, { title, nouns, hint, words }) {
    Object.assign(this, { list, nouns });
    // Each reads its state from the address.
    this.restorers = [];
    this.heading = el("h2", "", title);
    this.heading.id = list.name + "-title";
    this.status = having(el("span", "muted shown"), { role: "status" });
    this.groups = el("div", "groups");
    this.picks = el("div", "picks");
    this.search = this.makeSearch(hint, words);
    this.node = el("div", compared ? "bar two" : "bar", this.heading, this.status, this.groups, this.picks, this.search);
    put(list.none, [el("p", "", `No ${nouns[0]} matches.`), button("plain reset", () => this.reset(), `Show all ${nouns[1]}`)]);
    list.refreshed = () => this.tell();
  }

  tell() {
    const [some, all] = [this.list.shown.length, this.list.items.length];
    const noun = all === 1 ? this.nouns[0] : this.nouns[1];
    this.status.textContent = some === all ? `${count(all)} ${noun}` : `${count(some)} of ${count(all)} ${noun}`;
  }

  changed(values) {
    remember(values);
    this.list.toTop();
    this.list.refresh();
  }

  // Buttons by word; several may be pressed. `marks` gives `{ word, tone, n }` and is asked again
  // when cases arrive.
  addChips(name, title, marks, has) {
    const group = having(el("div", "chips"), { role: "group", "aria-label": title });
    const heading = compared && el("span", "muted", title);
    const chosen = new Set();
    const draw = () => {
      const chips = marks().filter((mark) => mark.n > 0 || chosen.has(mark.word)).map(({ word, tone, n }) => {
        const toggle = () => {
          if (!chosen.delete(word)) chosen.add(word);
          chip.setAttribute("aria-pressed", chosen.has(word));
          this.changed({ [name]: [...chosen].join(",") });
        };
        const chip = having(button("plain chip " + tone, toggle, el("i"), word, el("b", "", count(n))), { "aria-pressed": chosen.has(word) });
        return chip;
      });
      group.replaceChildren(...[heading, ...chips].filter(Boolean));
    };
    const restore = () => {
      chosen.clear();
      for (const word of asked(name).split(",").filter(Boolean)) chosen.add(word);
      draw();
    };
    this.restorers.push(restore);
    this.groups.append(group);
    this.list.filters.push((one) => !chosen.size || [...chosen].some((word) => has(one, word)));
    return { draw, only: (word) => { this.changed({ [name]: word }); this.restore(); } };
  }

  // `names` gives the choices and is asked again when cases arrive.
  addPick(name, title, names, has) {
    const select = having(el("select"), { "aria-label": title });
    let list = [];
    const draw = () => {
      const before = select.value;
      list = names();
      select.hidden = list.length < 2;
      // A name may be empty, so choices are numbers.
      select.replaceChildren(new Option(`Every ${name}`, ""), ...list.map((one, at) => new Option(seen(one), at)));
      select.value = before;
    };
    const restore = () => {
      draw();
      const at = address.has(name) ? list.indexOf(asked(name)) : -1;
      select.value = at >= 0 ? at : "";
    };
    select.addEventListener("change", () => this.changed({ [name]: select.value === "" ? null : list[Number(select.value)] }));
    this.picks.append(select);
    this.restorers.push(restore);
    this.list.filters.push((one) => select.value === "" || has(one, list[Number(select.value)]));
    return draw;
  }

  // A filter that is set elsewhere, shown with a button that removes it.
  addFacet(name, title, has) {
    const place = el("span", "facet");
    let value = "";
    const restore = () => {
      value = asked(name);
      const remove = () => { this.changed({ [name]: "" }); this.restore(); this.list.table.focus(); };
      const chip = value && button("plain chip facet", remove, el("span", "", `${title}: ${value}`), sign("×"));
      place.replaceChildren(...(chip ? [having(chip, { "aria-label": `Remove the filter ${title}: ${value}`, title: value })] : []));
    };
    this.groups.append(place);
    this.restorers.push(restore);
    this.list.filters.push((one) => !value || has(one, value));
    return (wanted) => { this.changed({ [name]: wanted }); this.restore(); };
  }

  makeSearch(hint, words) {
    const input = el("input");
    let wanted = [];
    const split = () => { wanted = input.value.trim().toLowerCase().split(/\s+/).filter(Boolean); };
    const look = () => {
      split();
      this.changed({ q: input.value.trim() });
    };
    Object.assign(input, { type: "search", placeholder: hint, autocomplete: "off", spellcheck: false });
    having(input, { "aria-label": hint, "aria-keyshortcuts": "/" });
    input.addEventListener("input", look);
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && input.value) {
        input.value = "";
        look();
      } else if (["Escape", "Enter", "ArrowDown"].includes(event.key)) this.list.table.focus();
      else return;
      event.preventDefault();
    });
    this.restorers.push(() => {
      input.value = asked("q");
      split();
    });
    this.list.filters.push((one) => wanted.every((word) => haystack(one, words).includes(word)));
    return input;
  }

  // Everything as the address says.
  restore() {
    for (const act of this.restorers) act();
    this.list.restoreOrder();
    this.list.refresh();
  }

  reset() {
    remember({ q: "", state: "", change: "", suite: null, target: null, tag: null, assertion: "", miss: "" });
    this.restore();
    this.list.table.focus();
  }
}
