// On paper all tests are in the table, or the open test is alone.

const MOST_PRINTED = 1000;

function openAll() {
  const closed = [...document.querySelectorAll("dialog[open] details:not([open])")];
  for (const node of closed) node.open = true;
  return closed;
}

function listenToPrint() {
  let opened = [];
  addEventListener("beforeprint", () => {
    const { list } = testTable;
    opened = openAll();
    list.print(MOST_PRINTED);
    const more = list.shown.length - MOST_PRINTED;
    byId("printed").textContent = more > 0 ? `${count(more)} more tests are not printed.` : "";
  });
  addEventListener("afterprint", () => {
    for (const node of opened) node.open = false;
    testTable.list.print(0);
    byId("printed").textContent = "";
  });
}
