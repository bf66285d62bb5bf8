/* htmx: the CSRF header, forms that come back with errors, calm failures, dialogs by fragment. */
(() => {
  "use strict";

  const texts = () => document.getElementById("toast-template")?.dataset ?? {};

  // The cookie's is newer than the page's where somebody has signed in again in another tab.
  window.csrfToken = () =>
    document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? document.querySelector("meta[name=csrf-token]")?.content ?? "";

  document.addEventListener("htmx:configRequest", ({ detail }) => {
    const token = window.csrfToken();
    if (!token || detail.verb === "get") return;
    detail.headers["X-CSRFToken"] = token;
    // The form's own would be looked at first, and may be from before.
    delete detail.parameters["csrfmiddlewaretoken"];
  });

  // A dialog that arrives in #dialogs opens; it leaves the page when it is closed.
  document.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (detail.target?.id !== "dialogs") return;
    const dialog = detail.target.querySelector("dialog");
    if (!dialog || dialog.open) return;
    dialog.addEventListener("close", () => dialog.remove(), { once: true });
    window.openDialog(dialog);
  });
  // Answer with `HX-Trigger: dialog-done` when what the dialog asked for has been done.
  document.addEventListener("dialog-done", () => {
    document.querySelectorAll("dialog[open]").forEach((dialog) => dialog.close());
  });

  // What looks again by itself: nobody asked, so nobody is told of each time that it fails.
  const isByItself = (elt) => /every |from:body/.test(elt?.getAttribute?.("hx-trigger") ?? "");
  let saidSignedOut = false;

  // Another tab may have switched memory on or off: what says so is asked for when the page is seen.
  let seenAt = 0;
  const seen = () => {
    if (document.visibilityState !== "visible" || Date.now() - seenAt < 1000) return;
    seenAt = Date.now();
    window.htmx.trigger(document.body, "page-seen");
  };
  document.addEventListener("visibilitychange", seen);
  window.addEventListener("focus", seen);
  window.addEventListener("pageshow", ({ persisted }) => { if (persisted) seen(); });

  // What it looked at went meanwhile, perhaps in another tab: it looks no more.
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const elt = detail.requestConfig.elt;
    if (detail.xhr.status !== 404 || !isByItself(elt)) return;
    detail.isError = false;
    if (!elt.getAttribute("hx-trigger").includes("every ")) return;
    elt.remove();
    if (detail.target !== elt) window.showToast?.(texts().notFound, "error");
  });

  // Changed rows go where they stand. One that this page no longer shows makes it search again.
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

  // A row of what was forgotten meanwhile says so in its place, and offers nothing more.
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
    if (row && !row.matches(".row--editing")) {
      // What is typed in a row stays there.
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
