/* Runs before the first paint, so that no other appearance flashes up. The settings are those of elements/stored-settings.ts. */
(function applyAppearance() {
  try {
    const { theme, density } = JSON.parse(localStorage.getItem("sheaf-settings") || "{}");
    const { dataset } = document.documentElement;
    if (theme === "light" || theme === "dark") dataset.theme = theme;
    if (density === "compact") dataset.density = density;
  } catch {
    // Storage is forbidden or holds something else: the page looks as the system does.
  }
})();
