// Nodes of the page. Data becomes text nodes and attributes only, never markup, so nothing that an
// agent wrote can act here.

const SVG = "http://www.w3.org/2000/svg";
const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]|\udb40[\udc00-\udc7f]/g;

const byId = (id) => document.getElementById(id);

// Characters that hide words or reverse their order are shown as pictures.
function seen(text) {
  return String(text).replace(/\r\n/g, "\n").replace(HARMFUL, (c) => {
    const code = c.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : "\ufffd";
  });
}

// The only way from data to the page.
function put(node, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(seen(child)));
  }
  return node;
}

function el(tag, name, ...children) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  return put(node, children);
}

function svg(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return put(node, children);
}

// Attributes beside the class. Values pass `seen` like all other text.
function having(node, attributes) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) node.setAttribute(key, seen(value));
  }
  return node;
}

function button(name, act, ...children) {
  const node = el("button", name, ...children);
  node.type = "button";
  node.addEventListener("click", act);
  return node;
}

// For the eye only: what it says is said beside it.
function sign(text) {
  return having(el("i", "sign", text), { "aria-hidden": "true" });
}

function badge(tone, glyph, word) {
  return el("span", "badge " + tone, sign(glyph), word);
}

function facts(pairs) {
  const list = el("dl", "facts");
  for (const [name, value] of pairs) {
    if (known(value) && value !== "") list.append(el("div", "", el("dt", "", name), el("dd", "", value)));
  }
  return list;
}

function more(title, ...children) {
  return el("details", "more", el("summary", "", title), ...children);
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
