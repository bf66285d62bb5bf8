/* A link that leads to a confirmation page opens the dialog on this page where there is one.
   <a href="/…/delete/" data-dialog-open="delete-12">; [data-dialog-close] closes. */
(() => {
  "use strict";

  // An open dialog or popover hides the page's scrollbar. dialog.css keeps its room only if the page
  // had a scrollbar that takes room.
  function noteScrollbar() {
    const root = document.documentElement;
    if (root.querySelector("dialog:modal, [popover]:popover-open")) return;
    root.toggleAttribute("data-scrollbar", window.innerWidth > root.clientWidth);
  }
  window.openDialog = (dialog) => {
    noteScrollbar();
    dialog.showModal();
  };
  document.addEventListener("beforetoggle", noteScrollbar, { capture: true });

  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-dialog-open]");
    const dialog = opener && document.getElementById(opener.dataset.dialogOpen);
    if (dialog && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      window.openDialog(dialog);
      return;
    }
    const closer = event.target.closest("[data-dialog-close]");
    const around = closer?.closest("dialog[open]");
    if (around) {
      event.preventDefault();
      around.close();
    } else if (event.target.matches("dialog[open]")) {
      closeIfOutside(event.target, event);
    }
  });

  // A click on the backdrop has the dialog as its target but lies outside its box.
  function closeIfOutside(dialog, { clientX, clientY }) {
    const box = dialog.getBoundingClientRect();
    const inside = clientX >= box.left && clientX <= box.right && clientY >= box.top && clientY <= box.bottom;
    if (!inside) dialog.close();
  }

  // The dangerous button waits for the typed phrase; the server checks it again.
  function guard(form) {
    const field = form.querySelector("[data-phrase]");
    const button = form.querySelector("[data-needs-phrase]");
    if (field && button) button.disabled = field.value.trim() !== field.dataset.phrase;
  }
  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-phrase]")) guard(event.target.form);
  });
  for (const field of document.querySelectorAll("[data-phrase]")) guard(field.form);
  document.addEventListener("htmx:load", (event) => {
    for (const field of event.target.querySelectorAll?.("[data-phrase]") ?? []) guard(field.form);
  });
})();
