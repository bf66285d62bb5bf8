/* The admin's theme names each area that scrolls in English. This listens before its script does, which
   comes later in the page. */
document.addEventListener("DOMContentLoaded", () => {
  const name = document.getElementById("page").dataset.scrollable;
  for (const area of document.querySelectorAll("[data-simplebar]:not([data-simplebar-aria-label])")) {
    area.dataset.simplebarAriaLabel = name;
  }
});
