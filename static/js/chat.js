/* The composer and the list of messages. */
(() => {
  "use strict";

  // Enter sends, Shift+Enter breaks the line. While an input method is composing (Chinese,
  // Japanese …) Enter only picks a word; Safari reports that Enter as key 229.
  document.addEventListener("keydown", (event) => {
    const field = event.target;
    if (!field.matches?.("[data-composer]")) return;
    const composing = event.isComposing || event.keyCode === 229;
    if (event.key === "Enter" && !event.shiftKey && !composing) {
      event.preventDefault();
      const busy = field.form.classList.contains("is-streaming");
      if (field.value.trim() && !busy) field.form.requestSubmit();
    } else if (event.key === "Escape" && !composing) {
      const stop = field.form.querySelector("[data-composer-stop]");
      if (stop?.checkVisibility()) stop.click();
      else field.blur();
    }
  });

  // Browsers without `field-sizing` grow the field by script.
  if (!CSS.supports("field-sizing", "content")) {
    document.addEventListener("input", ({ target }) => {
      if (!target.matches("[data-composer]")) return;
      target.style.blockSize = "auto";
      target.style.blockSize = `${target.scrollHeight}px`;
    });
  }

  // The list follows the reply unless the reader has scrolled up.
  const NEAR = 120;
  function follow(list) {
    const toEnd = () => { list.scrollTop = list.scrollHeight; };
    let near = true;
    list.addEventListener("scroll", () => {
      near = list.scrollHeight - list.scrollTop - list.clientHeight < NEAR;
    }, { passive: true });
    new MutationObserver(() => { if (near) toEnd(); })
      .observe(list, { childList: true, subtree: true, characterData: true });
    if (!location.hash) toEnd();
  }
  document.querySelectorAll("[data-follow]").forEach(follow);

  // A link to a message that is further back than this page goes: ask for the page around it.
  const wanted = location.hash.slice(1);
  if (wanted.startsWith("msg_") && !document.getElementById(wanted) && !location.search.includes("at=")) {
    location.replace(`${location.pathname}?at=${wanted}#${wanted}`);
  }

  // Sending: what was said stands there at once; it comes back to the composer if it fails.
  const sends = (element) => element?.matches?.("[data-sends]");
  const composer = () => document.querySelector("[data-composer]");
  let sent = "";
  document.addEventListener("htmx:beforeRequest", ({ detail }) => {
    if (!sends(detail.elt)) return;
    const field = composer();
    const pending = document.getElementById("pending").content.cloneNode(true);
    sent = field.value;
    pending.querySelector(".bubble--user .bubble__text").textContent = sent.trim();
    document.getElementById("bubbles").append(pending);
    document.getElementById("composer-error")?.remove();
    const list = document.querySelector("[data-follow]");
    list.scrollTop = list.scrollHeight;
    setText(field, "");
    setBusy(field, true);
  });
  function setText(field, text) {
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  function setBusy(field, busy) {
    field.readOnly = busy;
    field.form.querySelector(".composer__send").disabled = busy;
    field.form.setAttribute("aria-busy", String(busy));
  }
  // A new conversation's page replaces this one: until then it stays as it is.
  const leaves = (xhr) => xhr.status === 200 && xhr.getResponseHeader("HX-Redirect");
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (sends(detail.requestConfig?.elt)) clearPending();
  });
  document.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (!sends(detail.elt) || leaves(detail.xhr)) return;
    clearPending();
    const field = composer();
    setBusy(field, false);
    if (!detail.successful && !field.value) setText(field, sent);
    if (matchMedia("(pointer: fine)").matches) field.focus();
  });
  function clearPending() {
    document.querySelectorAll(".bubble--pending").forEach((bubble) => bubble.remove());
  }

  // Suggestions fill the composer; what stands there is kept for the person to send.
  document.addEventListener("click", (event) => {
    const suggestion = event.target.closest("[data-fill]");
    if (!suggestion || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    setText(composer(), suggestion.dataset.fill);
    composer().focus();
  });

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

  if (matchMedia("(pointer: fine)").matches && !location.hash) composer()?.focus({ preventScroll: true });
})();
