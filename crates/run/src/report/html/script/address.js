// The address of the page: filters, order and the open test are behind its `#`, so that a link shows
// the same again.

let address = new URLSearchParams(location.hash.slice(1));

const asked = (name) => address.get(name) || "";

function remember(values) {
  for (const [name, value] of Object.entries(values)) {
    if (known(value) && value !== "" && value !== false) address.set(name, value);
    else address.delete(name);
  }
  try {
    history.replaceState(history.state, "", "#" + address);
  } catch {
    // Not every place that shows a file has a history.
  }
}

// Another address was typed or pasted into the open page.
function listenToAddress(restore) {
  addEventListener("hashchange", () => {
    address = new URLSearchParams(location.hash.slice(1));
    restore();
  });
}
