// Markdown as nodes: paragraphs, headings, lists, quotes, code, tables, rules. HTML in it stays text.

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])(\s*\1){2,}\s*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const QUOTE = /^ {0,3}>\s?/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
const BLOCK_DEPTH = 8;

const startsBlock = (line) => FENCE.test(line) || HEADING.test(line) || RULE.test(line) || ITEM.test(line) || QUOTE.test(line);

class Markdown {
  constructor(lines, depth) {
    Object.assign(this, { lines, depth, at: 0 });
  }

  // The lines while `fits` holds.
  takeWhile(fits) {
    const from = this.at;
    while (this.at < this.lines.length && fits(this.lines[this.at], this.at - from)) this.at += 1;
    return this.lines.slice(from, this.at);
  }

  takeFence() {
    const [, fence, language] = FENCE.exec(this.lines[this.at]);
    this.at += 1;
    const closes = (line) => line.trim().startsWith(fence) && !line.trim().slice(fence.length).replaceAll(fence[0], "").trim();
    const code = this.takeWhile((line) => !closes(line)).join("\n");
    this.at += 1;
    return el("div", "codeblock", language && el("span", "language", language), el("pre", "", el("code", "", code)));
  }

  // Not an `h1`: the page has its own outline.
  takeHeading() {
    const [, marks, text] = HEADING.exec(this.lines[this.at]);
    this.at += 1;
    return el("p", "heading h" + marks.length, ...inline(text));
  }

  takeQuote() {
    const lines = this.takeWhile((line) => QUOTE.test(line)).map((line) => line.replace(QUOTE, ""));
    return el("blockquote", "", ...blocksOf(lines, this.depth + 1));
  }

  // An item has its first line, and what is indented below it.
  takeItem(indent) {
    const [, space, mark, text] = ITEM.exec(this.lines[this.at]);
    const inner = space.length + mark.length + 1;
    this.at += 1;
    const rest = this.takeWhile((line) => (line.trim() === "" ? /^\s/.test(this.lines[this.at + 1] || "") : /^\s*/.exec(line)[0].length > indent));
    const lines = rest.map((line) => line.slice(Math.min(inner, /^\s*/.exec(line)[0].length)));
    if (!lines.length) return el("li", "", ...inline(text));
    return el("li", "", ...blocksOf([text, ...lines], this.depth + 1));
  }

  takeList() {
    const [, space, mark] = ITEM.exec(this.lines[this.at]);
    const isNumbered = /\d/.test(mark);
    const list = el(isNumbered ? "ol" : "ul");
    if (isNumbered) list.start = parseInt(mark, 10);
    for (;;) {
      const found = this.at < this.lines.length && ITEM.exec(this.lines[this.at]);
      if (!found || /\d/.test(found[2]) !== isNumbered || RULE.test(this.lines[this.at])) break;
      list.append(this.takeItem(space.length));
      // One empty line between items does not end a list.
      if ((this.lines[this.at] || "").trim() === "" && ITEM.test(this.lines[this.at + 1] || "")) this.at += 1;
    }
    return list;
  }

  takeTable() {
    const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
    const [head, , ...body] = this.takeWhile((line, n) => n < 2 || line.includes("|"));
    const row = (line, tag) => el("tr", "", ...cells(line).map((cell) => el(tag, "", ...inline(cell))));
    const table = el("table", "", el("thead", "", row(head, "th")), el("tbody", "", ...body.map((line) => row(line, "td"))));
    for (const cell of table.querySelectorAll("th")) cell.scope = "col";
    return table;
  }

  takeParagraph() {
    const lines = this.takeWhile((line, n) => line.trim() !== "" && (n === 0 || !startsBlock(line)));
    return el("p", "", ...inline(lines.join("\n")));
  }

  next() {
    const line = this.lines[this.at];
    if (FENCE.test(line)) return this.takeFence();
    if (HEADING.test(line)) return this.takeHeading();
    if (RULE.test(line)) {
      this.at += 1;
      return el("hr");
    }
    if (this.depth < BLOCK_DEPTH && QUOTE.test(line)) return this.takeQuote();
    if (this.depth < BLOCK_DEPTH && ITEM.test(line)) return this.takeList();
    if (line.includes("|") && TABLE_RULE.test(this.lines[this.at + 1] || "")) return this.takeTable();
    return this.takeParagraph();
  }

  read() {
    const nodes = [];
    while (this.at < this.lines.length) {
      if (this.lines[this.at].trim() === "") this.at += 1;
      else nodes.push(this.next());
    }
    return nodes;
  }
}

const blocksOf = (lines, depth) => new Markdown(lines, depth).read();

function markdown(text) {
  return el("div", "markdown", ...blocksOf(String(text).replace(/\r\n?/g, "\n").replace(/\t/g, "    ").split("\n"), 0));
}
