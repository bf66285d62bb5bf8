/* Beside the messages: renaming conversations, forget cards, and the panel about an answer. */
(() => {
  "use strict";

  // The list of conversations isn't replaced while one of its menus is open or a name is being typed.
  // It is updated afterwards.
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

  // When the field for a name appears, select its text. Esc cancels renaming.
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

  // "Remember this…" uses the selected part of the message. Opening the menu clears the selection, so
  // store it before. Send only the positions in characters, not the text, since logs contain URLs.
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

  // The ticks of a forget card are stored in this tab until the card is answered: only the ids of the
  // ticked lines, never their texts. Signing out removes them (app.js).
  const ticksOf = (card) => `ticks ${card.id}`;
  const boxes = (card) => [...card.querySelectorAll("[type=checkbox]")];
  document.addEventListener("change", ({ target }) => {
    const card = target.closest(".forget");
    if (!card) return;
    const ticked = boxes(card).filter((one) => one.checked).map((one) => one.value);
    try {
      sessionStorage.setItem(ticksOf(card), ticked.join(" "));
    } catch { /* no storage: the ticks are still on the card */ }
  });
  function tickAgain() {
    for (const card of document.querySelectorAll(".forget:not([data-ticked])")) {
      card.dataset.ticked = "";
      let kept = null;
      try {
        kept = sessionStorage.getItem(ticksOf(card));
      } catch { /* no storage: keep the ticks of the server */ }
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
    // The response to an answered card replaces all messages (HX-Retarget); otherwise it is a card again.
    if (!successful || !elt.matches(".forget") || !xhr.getResponseHeader("HX-Retarget")) return;
    try {
      sessionStorage.removeItem(ticksOf(elt));
    } catch { /* no storage: nothing to remove */ }
  });

  // An opened list of learned memories may lie below the visible area; scroll only as far as needed.
  document.addEventListener("toggle", ({ target }) => {
    if (target.matches?.(".learned[open]")) target.scrollIntoView({ block: "nearest" });
  }, true);

  // Mark the answer that the side panel is about. On small screens, the panel opens as a sheet.
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
