/* Around the messages: names of conversations, and the panel about an answer. */
(() => {
  "use strict";

  // The field for a name: its text is chosen, Esc cancels.
  document.addEventListener("htmx:afterSettle", () => {
    const field = document.querySelector("[data-renames]");
    if (field && document.activeElement !== field) field.select();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing || !event.target.matches?.("[data-renames]")) return;
    event.stopPropagation();
    cancelRenaming();
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".chat__title [data-cancels]")) return;
    event.preventDefault();
    cancelRenaming();
  });
  function cancelRenaming() {
    window.htmx.trigger(document.body, "conversation-changed");
    window.htmx.trigger(document.body, "title-changed");
  }
  for (const sheet of document.querySelectorAll(".sheet")) {
    sheet.addEventListener("click", (event) => {
      if (!event.target.closest("[data-keeps-sheet]")) return;
      event.stopPropagation();
      if (!event.target.closest("[data-cancels]")) return;
      event.preventDefault();
      cancelRenaming();
    });
  }

  // The panel: which answer it is about; on small screens it opens as a sheet.
  function mark() {
    const shown = document.getElementById("used-here")?.dataset.answer;
    for (const chip of document.querySelectorAll("[data-shows]")) {
      if (chip.dataset.shows === shown) chip.setAttribute("aria-current", "true");
      else chip.removeAttribute("aria-current");
    }
  }
  mark();
  document.addEventListener("htmx:afterSettle", mark);
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-shows]")) return;
    const panel = document.getElementById("used");
    if (!panel.checkVisibility()) panel.showPopover();
  });
})();
