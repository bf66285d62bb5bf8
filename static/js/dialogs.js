/* Dialogs. <a href="/…/delete/" data-dialog-open="delete-12"> opens the dialog with that id if the
   page has one, and otherwise follows the link. [data-dialog-close] closes the dialog around it. */
(() => {
  "use strict";

  // An open dialog or popover hides the page's scrollbar. With `data-scrollbar`, dialog.css keeps the
  // scrollbar's space, so that the page doesn't move.
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

  // The target of a click on the backdrop is the dialog, so compare the pointer with the dialog's box.
  function closeIfOutside(dialog, { clientX, clientY }) {
    const box = dialog.getBoundingClientRect();
    const inside = clientX >= box.left && clientX <= box.right && clientY >= box.top && clientY <= box.bottom;
    if (!inside) dialog.close();
  }

  // The dangerous button is disabled until the phrase is typed. The server checks the phrase again.
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
