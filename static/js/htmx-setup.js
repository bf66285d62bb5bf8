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
    dialog.showModal();
  });
  // Answer with `HX-Trigger: dialog-done` when what the dialog asked for has been done.
  document.addEventListener("dialog-done", () => {
    document.querySelectorAll("dialog[open]").forEach((dialog) => dialog.close());
  });

  document.addEventListener("htmx:responseError", ({ detail }) => {
    const status = detail.xhr.status;
    const { signedOut, notFound, failed } = texts();
    const text = { 401: signedOut, 403: signedOut, 404: notFound }[status] ?? failed;
    window.showToast?.(text, "error");
  });
  document.addEventListener("htmx:sendError", () => window.showToast?.(texts().offline, "error"));
  document.addEventListener("htmx:timeout", () => window.showToast?.(texts().offline, "error"));
})();
