/* Toasts: a countdown while undo is possible, a calm exit otherwise, never for errors. */
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

  // Undone in place: the toast that offered it has nothing more to offer.
  document.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (detail.successful) detail.requestConfig.elt.closest(".toast")?.remove();
  });

  // The newest one stands alone; a warning or an error stays until something of its kind comes.
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
  startAll();
  new MutationObserver(startAll).observe(region(), { childList: true, subtree: true });
})();
