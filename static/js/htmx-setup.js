/* Set up htmx: the CSRF header, dialogs that arrive as fragments, changed rows, and failed requests. */
(() => {
  "use strict";

  const texts = () => document.getElementById("toast-template")?.dataset ?? {};

  // After a sign-in in another tab, the token in the cookie is newer than the token in the page.
  window.csrfToken = () =>
    document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? document.querySelector("meta[name=csrf-token]")?.content ?? "";

  document.addEventListener("htmx:configRequest", ({ detail }) => {
    const token = window.csrfToken();
    if (!token || detail.verb === "get") return;
    detail.headers["X-CSRFToken"] = token;
    // Django reads the form field before the header, and the field may contain an old token.
    delete detail.parameters["csrfmiddlewaretoken"];
  });

  // Open a dialog that arrives in #dialogs, and remove it from the page when it is closed.
  document.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (detail.target?.id !== "dialogs") return;
    const dialog = detail.target.querySelector("dialog");
    if (!dialog || dialog.open) return;
    dialog.addEventListener("close", () => dialog.remove(), { once: true });
    window.openDialog(dialog);
  });
  // The server responds with `HX-Trigger: dialog-done` when the action of the dialog is done.
  document.addEventListener("dialog-done", () => {
    document.querySelectorAll("dialog[open]").forEach((dialog) => dialog.close());
  });

  // Return whether an element sends requests by itself. Of such failures, only a sign-out is shown, once.
  const isByItself = (elt) => /every |from:body/.test(elt?.getAttribute?.("hx-trigger") ?? "");
  let saidSignedOut = false;

  // Another tab may have changed the state of memory, so elements that show it reload on `page-seen`.
  let seenAt = 0;
  const seen = () => {
    if (document.visibilityState !== "visible" || Date.now() - seenAt < 1000) return;
    seenAt = Date.now();
    window.htmx.trigger(document.body, "page-seen");
  };
  document.addEventListener("visibilitychange", seen);
  window.addEventListener("focus", seen);
  window.addEventListener("pageshow", ({ persisted }) => { if (persisted) seen(); });

  // If an element that polls gets a 404, its object no longer exists: remove the element.
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const elt = detail.requestConfig.elt;
    if (detail.xhr.status !== 404 || !isByItself(elt)) return;
    detail.isError = false;
    if (!elt.getAttribute("hx-trigger").includes("every ")) return;
    elt.remove();
    if (detail.target !== elt) window.showToast?.(texts().notFound, "error");
  });

  // Changed rows are swapped in place. If the page no longer shows one of them, search again.
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (detail.target?.id !== "toasts") return;
    const answer = document.createElement("template");
    answer.innerHTML = detail.serverResponse;
    const lost = [...answer.content.querySelectorAll("li[hx-swap-oob]")].filter((row) => !document.getElementById(row.id));
    if (!lost.length) return;
    lost.forEach((row) => row.remove());
    detail.serverResponse = answer.innerHTML;
    window.htmx.trigger("#filters", "submit");
  });

  // Replace the content of a row whose memory was forgotten in the meantime by a note.
  const showGone = (row) => {
    const said = document.createElement("p");
    said.className = "row__quote tone-warning";
    said.setAttribute("role", "status");
    said.tabIndex = -1;
    said.textContent = texts().gone;
    const main = document.createElement("div");
    main.className = "row__main";
    main.append(said);
    row.className = "row row--plain row--gone";
    row.removeAttribute("aria-busy");
    row.replaceChildren(main);
    said.focus();
  };

  document.addEventListener("htmx:responseError", ({ detail }) => {
    const status = detail.xhr.status;
    const { signedOut, notFound, failed } = texts();
    if (isByItself(detail.requestConfig.elt)) {
      if (![401, 403].includes(status) || saidSignedOut) return;
      saidSignedOut = true;
    }
    const row = status === 404 && detail.requestConfig.elt.closest(".row");
    if (row && !row.matches(".row--editing")) { // a row being edited keeps the typed text
      showGone(row);
      return;
    }
    const text = { 401: signedOut, 403: signedOut, 404: notFound }[status] ?? failed;
    window.showToast?.(text, "error");
  });
  for (const name of ["htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, ({ detail }) => {
      if (!isByItself(detail.requestConfig.elt)) window.showToast?.(navigator.onLine ? texts().offline : texts().noNetwork, "error");
    });
  }
})();
