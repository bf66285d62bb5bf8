/* The admin's theme gives scrolling areas an English name for screen readers. This script sets a
   translated name before the theme's script runs, which is loaded later in the page. */
document.addEventListener("DOMContentLoaded", () => {
  const name = document.getElementById("page").dataset.scrollable;
  for (const area of document.querySelectorAll("[data-simplebar]:not([data-simplebar-aria-label])")) {
    area.dataset.simplebarAriaLabel = name;
  }
});
