// Markdown inside a line: emphasis, code, links. Every piece becomes a text node. Addresses are shown
// and cannot be clicked, so nothing in an answer leads anywhere.

const MARKS = { "**": "strong", "__": "strong", "~~": "del", "*": "em", "_": "em" };
const INLINE_DEPTH = 6;
const PLAIN = /[^\\`*_~[!]+/y;
const LINK = /!?\[([^\[\]]{0,1000})\]\(<?([^\s()<>]{0,2000})>?(?:\s+"[^"]{0,300}")?\)/y;
const CODE = /(`+)(?!`)([^]*?[^`])\1(?!`)/y;

// A search that found nothing is not repeated further on, so that a line of openings takes no longer
// than any other.
class InlineText {
  constructor(text, depth) {
    Object.assign(this, { text, depth, at: 0, hopeless: new Set(), nodes: [], plain: "" });
  }

  flush() {
    if (this.plain) this.nodes.push(this.plain);
    this.plain = "";
  }

  add(node, end) {
    this.flush();
    this.nodes.push(node);
    this.at = end;
    return true;
  }

  match(pattern) {
    pattern.lastIndex = this.at;
    return pattern.exec(this.text);
  }

  takeCode() {
    if (this.text[this.at] !== "`" || this.hopeless.has("`")) return false;
    const found = this.match(CODE);
    if (!found) {
      this.hopeless.add("`");
      return false;
    }
    return this.add(el("code", "", found[2].trim() || found[2]), CODE.lastIndex);
  }

  takeLink() {
    const found = this.match(LINK);
    if (!found) return false;
    const [whole, label, target] = found;
    const isImage = whole.startsWith("!");
    const words = label && label !== target ? [...inline(label, this.depth + 1), " "] : [];
    return this.add(el("span", isImage ? "image" : "linked", isImage && "image: ", ...words, el("span", "url", target)), LINK.lastIndex);
  }

  takeMarked() {
    const { text, at } = this;
    const mark = MARKS[text.slice(at, at + 2)] ? text.slice(at, at + 2) : MARKS[text[at]] ? text[at] : null;
    if (!mark || this.hopeless.has(mark) || this.depth >= INLINE_DEPTH) return false;
    const start = at + mark.length;
    // An underscore inside a word is one, as in `snake_case`.
    const isInWord = mark[0] === "_" && /\w/.test(text[at - 1] || "");
    if (isInWord || !text[start] || /\s/.test(text[start])) return false;
    let end = text.indexOf(mark, start + 1);
    while (end > 0 && (/\s/.test(text[end - 1]) || (mark.length === 1 && text[end + 1] === mark))) end = text.indexOf(mark, end + 2);
    if (end < 0) {
      this.hopeless.add(mark);
      return false;
    }
    return this.add(el(MARKS[mark], "", ...inline(text.slice(start, end), this.depth + 1)), end + mark.length);
  }

  read() {
    while (this.at < this.text.length) {
      const plain = this.match(PLAIN);
      if (plain) {
        this.plain += plain[0];
        this.at = PLAIN.lastIndex;
        continue;
      }
      const next = this.text[this.at + 1] || "";
      if (this.text[this.at] === "\\" && /[!-/:-@[-`{-~]/.test(next)) {
        this.plain += next;
        this.at += 2;
      } else if (!(this.takeCode() || this.takeLink() || this.takeMarked())) {
        this.plain += this.text[this.at];
        this.at += 1;
      }
    }
    this.flush();
    return this.nodes;
  }
}

function inline(text, depth = 0) {
  return depth > INLINE_DEPTH ? [text] : new InlineText(text, depth).read();
}
