/* Toasts disappear after some seconds, with a countdown if they offer undo. Errors stay. */
(() => {
  "use strict";

  const PLAIN_SECONDS = 6;
  const region = () => document.getElementById("toasts");

  function start(toast) {
    if (toast.dataset.started) return;
    toast.dataset.started = "yes";
    if (toast.classList.contains("toast--error")) return;
    const total = Number(toast.dataset.seconds) || PLAIN_SECONDS;
    const bar = toast.querySelector("progress");
    const count = toast.querySelector("[data-left]");
    let left = total;
    const clock = setInterval(() => {
      if (!toast.isConnected) return clearInterval(clock);
      if (toast.matches(":hover, :focus-within")) return;
      left -= 0.25;
      if (bar) bar.value = left / total;
      if (count) count.textContent = Math.ceil(left);
      if (left > 0) return;
      clearInterval(clock);
      toast.remove();
    }, 250);
  }

  window.showToast = (text, tone = "info") => {
    const template = document.getElementById("toast-template");
    if (!text || !template) return;
    const toast = template.content.firstElementChild.cloneNode(true);
    toast.classList.add(`toast--${tone}`);
    toast.querySelector(".toast__text").textContent = text;
    region().append(toast);
  };

  document.addEventListener("click", (event) => {
    event.target.closest("[data-toast-close]")?.closest(".toast").remove();
  });

  // Remove a toast after its undo request has succeeded.
  document.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (detail.successful) detail.requestConfig.elt.closest(".toast")?.remove();
  });

  // A new toast removes the old ones; a warning or an error stays until the next warning or error.
  const stays = (toast) => toast.matches(".toast--error, .toast--warning");
  function clearBefore(newest) {
    for (const old of region().querySelectorAll(".toast[data-started]")) {
      if (!stays(old) || stays(newest)) old.remove();
    }
  }
  const startAll = () => {
    const fresh = [...document.querySelectorAll(".toast:not([data-started])")];
    if (fresh.length) clearBefore(fresh.at(-1));
    fresh.forEach(start);
  };

  // A toast must not cover buttons of an open dialog, card, notice or form: it moves to the nearest free
  // height, if possible outside the bars of the page too.
  const ACTIONS = ["dialog[open]", ".card", ".notice", ".confirm", ".form", ".bulk", ".edit", ".receipt"]
    .map((place) => `${place} :is(button, a.button)`).join();
  const BARS = ".site-header, .chat__bar, .chat__foot, .tabs, h1";
  const GAP = 8;

  // Return the visible parts of the matching elements, since a scrolling list may hide some of them.
  function inView(selector) {
    const boxes = [];
    for (const one of document.querySelectorAll(selector)) {
      if (!one.checkVisibility() || one.closest(".toasts")) continue;
      const box = one.getBoundingClientRect();
      const frame = one.closest(".chat__scroll, .sheet, dialog")?.getBoundingClientRect();
      const top = Math.max(box.top, frame?.top ?? 0, 0);
      const bottom = Math.min(box.bottom, frame?.bottom ?? innerHeight, innerHeight);
      if (bottom > top && box.width) boxes.push({ top, bottom, left: box.left, right: box.right });
    }
    return boxes;
  }
  function nearestFree(own, taken) {
    const beside = taken.filter(({ left, right }) => left < own.right && own.left < right);
    const height = own.bottom - own.top;
    const isFree = (top) => top >= 0 && top + height <= innerHeight
      && beside.every((box) => box.bottom <= top || top + height <= box.top);
    const tops = [own.top, ...beside.flatMap((box) => [box.top - GAP - height, box.bottom + GAP])];
    return tops.filter(isFree).sort((a, b) => Math.abs(a - own.top) - Math.abs(b - own.top))[0];
  }
  function place() {
    const shown = [...region().children].map((toast) => toast.getBoundingClientRect());
    if (!shown.length) return;
    const moved = parseFloat(region().style.translate.split(" ")[1]) || 0;
    const box = region().getBoundingClientRect();
    const own = {
      top: box.top - moved,
      bottom: box.bottom - moved,
      left: Math.min(...shown.map(({ left }) => left)),
      right: Math.max(...shown.map(({ right }) => right)),
    };
    const actions = inView(ACTIONS);
    const isFree = nearestFree(own, actions) === own.top;
    const top = isFree ? own.top : nearestFree(own, [...actions, ...inView(BARS)]) ?? nearestFree(own, actions);
    region().style.translate = `0 ${(top ?? own.top) - own.top}px`;
  }
  let frame = 0;
  const placeSoon = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(place);
  };
  for (const type of ["scroll", "resize", "toggle", "htmx:afterSettle"]) {
    addEventListener(type, placeSoon, { capture: true, passive: true });
  }

  const attend = () => {
    startAll();
    place();
  };
  attend();
  new MutationObserver(attend).observe(region(), { childList: true, subtree: true });
})();
