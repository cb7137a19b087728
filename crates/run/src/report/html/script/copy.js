// Buttons that copy. What is copied is what is seen, without hidden characters.

function copyByHand(text) {
  const area = el("textarea", "offscreen");
  area.value = text;
  const place = document.querySelector("dialog[open]") || document.body;
  place.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  return isDone;
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByHand(text);
  }
}

// `text` is asked for when the button is used.
function copyButton(title, text) {
  const word = el("span", "", title === "Copy link" ? title : "Copy");
  const before = word.textContent;
  const node = button("copy", async () => {
    word.textContent = (await copyText(seen(text()))) ? "Copied" : "Not copied";
    setTimeout(() => { word.textContent = before; }, 1500);
  }, word);
  return having(node, { "aria-label": title, title });
}
