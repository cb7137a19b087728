// Numbers and values as text, in the words of the other reports.

const known = (value) => value !== undefined && value !== null;
const orDash = (value, write) => (known(value) ? write(value) : "–");
const count = (n) => n.toLocaleString("en-US");
const counted = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;

// `share_percent` of the core, which rounds every rate: 100 only for all, and 0 only for none.
function percent(passes, trials) {
  if (!trials) return "–";
  const share = passes / trials;
  if (share < 1e-9) return "0 %";
  if (share > 1 - 1e-9) return "100 %";
  return Math.max(1, Math.min(99, Math.round(share * 100 + 1e-9))) + " %";
}

// More decimals where two would seem to reach a threshold that was missed.
function score(value) {
  for (const decimals of [2, 4]) {
    const text = value.toFixed(decimals);
    const round = Math.abs(Number(text) * 20 - Math.round(Number(text) * 20)) < 1e-9;
    if (!round || Number(text) < value + 1e-9) return text;
  }
  return value.toFixed(6);
}

// 1 and 0 only when every score was that.
function mean(value) {
  const isMixed = value > 1e-9 && value < 1 - 1e-9;
  return (isMixed ? Math.max(0.01, Math.min(0.99, value)) : value).toFixed(2);
}

function money(dollars) {
  if (dollars === 0) return "$0";
  if (dollars < 0.0001) return "<$0.0001";
  return "$" + dollars.toFixed(dollars < 1 ? 4 : 2);
}

function duration(time) {
  const ms = Math.round(time);
  const seconds = Math.floor(ms / 1000);
  const two = (n) => String(n).padStart(2, "0");
  if (ms < 1000) return ms + " ms";
  if (ms < 60000) return (Math.floor(ms / 100) / 10).toFixed(1) + " s";
  if (ms < 3600000) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${two(Math.floor(seconds / 60) % 60)} min`;
}

// Points of a hundred, with a sign.
function points(share) {
  const value = Math.round(share * 1000) / 10;
  return value === 0 ? "0" : (value < 0 ? "−" : "+") + Math.abs(value);
}

// `+12 %` of what it was before; nothing if it was 0.
function growth(before, now) {
  if (!before || before === now) return "";
  const change = Math.round((now / before - 1) * 100);
  return `${change < 0 ? "−" : "+"}${count(Math.abs(change))} %`;
}

function pretty(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

// Arguments of tools often are JSON in a string.
function unpacked(value) {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
