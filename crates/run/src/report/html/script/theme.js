// Light or dark: the system's preference until the reader chooses.

const dark = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : dark.matches;
}

function nameTheme() {
  byId("theme").textContent = isDark() ? "Light" : "Dark";
  byId("theme").setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
}

function keepTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("evalrig-theme", theme);
  } catch {
    // Some browsers keep nothing for pages from disk; the choice then holds for this visit.
  }
  nameTheme();
}

function startTheme() {
  try {
    const theme = localStorage.getItem("evalrig-theme");
    if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
  } catch {
    // As above.
  }
  nameTheme();
  dark.addEventListener("change", nameTheme);
  byId("theme").addEventListener("click", () => keepTheme(isDark() ? "light" : "dark"));
}

