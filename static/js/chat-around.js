/* Around the messages: names of conversations, and the panel about an answer. */
(() => {
  "use strict";

  // While a menu of the list is open or a name is being typed the list isn't replaced. It catches
  // up when that is over.
  let stale = false;
  const inUse = () => document.querySelector(
    "#conversation-list :is(details.menu[open], .rename:not([data-leaves]), .htmx-request)",
  );
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (detail.target?.id !== "conversation-list" || !inUse()) return;
    detail.shouldSwap = false;
    stale = true;
  });
  document.addEventListener("submit", ({ target }) => {
    if (target.matches(".rename")) target.dataset.leaves = "";
  }, true);
  function catchUp() {
    if (!stale || inUse()) return;
    stale = false;
    window.htmx.trigger(document.body, "conversation-changed");
  }
  document.addEventListener("toggle", catchUp, true);
  document.addEventListener("htmx:afterSettle", catchUp);

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
    for (const form of document.querySelectorAll(".rename")) form.dataset.leaves = "";
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

  // "Remember this…" takes what is selected in its message; opening the menu ends the selection.
  // Only the place is sent, counted in characters: an address may be written into logs.
  let chosen = null; // { bubble, start, end }
  function selectedIn(bubble) {
    const selection = getSelection();
    const text = bubble?.querySelector(".bubble__text");
    if (!text || !selection.rangeCount || selection.isCollapsed) return null;
    const part = selection.getRangeAt(0).cloneRange();
    if (!part.intersectsNode(text)) return null;
    if (!text.contains(part.startContainer)) part.setStart(text, 0);
    if (!text.contains(part.endContainer)) part.setEnd(text, text.childNodes.length);
    const before = document.createRange();
    before.setStart(text, 0);
    before.setEnd(part.startContainer, part.startOffset);
    const start = [...before.toString()].length;
    const length = [...part.toString()].length;
    return length ? { bubble, start, end: start + length } : null;
  }
  document.addEventListener("pointerdown", ({ target }) => {
    if (target.closest(".bubble .menu > summary")) chosen = selectedIn(target.closest(".bubble"));
  });
  document.addEventListener("htmx:configRequest", ({ detail }) => {
    const bubble = detail.elt.closest(".bubble--user");
    if (!bubble || !detail.path.endsWith("/remember/") || detail.verb !== "get") return;
    const part = selectedIn(bubble) ?? (chosen?.bubble === bubble ? chosen : null);
    if (part) Object.assign(detail.parameters, { start: part.start, end: part.end });
    chosen = null;
  });

  // What is ticked on a card of forgetting is kept in this tab until the card is answered: only the ids
  // of its lines, never what they say. Signing out removes it (app.js).
  const ticksOf = (card) => `ticks ${card.id}`;
  const boxes = (card) => [...card.querySelectorAll("[type=checkbox]")];
  document.addEventListener("change", ({ target }) => {
    const card = target.closest(".forget");
    if (!card) return;
    const ticked = boxes(card).filter((one) => one.checked).map((one) => one.value);
    try {
      sessionStorage.setItem(ticksOf(card), ticked.join(" "));
    } catch { /* no storage: the card still has them */ }
  });
  function tickAgain() {
    for (const card of document.querySelectorAll(".forget:not([data-ticked])")) {
      card.dataset.ticked = "";
      let kept = null;
      try {
        kept = sessionStorage.getItem(ticksOf(card));
      } catch { /* no storage: as the server ticks them */ }
      if (kept === null) continue;
      const changed = boxes(card).filter((one) => one.checked !== kept.split(" ").includes(one.value));
      for (const one of changed) one.checked = !one.checked;
      card.querySelector(".forget__others:has(:checked)")?.setAttribute("open", "");
      changed[0]?.dispatchEvent(new Event("change", { bubbles: true }));
    }
  }
  tickAgain();
  document.addEventListener("htmx:afterSettle", tickAgain);
  document.addEventListener("htmx:afterRequest", ({ detail: { successful, xhr, requestConfig: { elt } } }) => {
    // An answered card is replaced together with its messages; another answer is a card again.
    if (!successful || !elt.matches(".forget") || !xhr.getResponseHeader("HX-Retarget")) return;
    try {
      sessionStorage.removeItem(ticksOf(elt));
    } catch { /* no storage: nothing to remove */ }
  });

  // What a turn taught opens below its chip, perhaps below the fold: only as far as needed is scrolled.
  document.addEventListener("toggle", ({ target }) => {
    if (target.matches?.(".learned[open]")) target.scrollIntoView({ block: "nearest" });
  }, true);

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
