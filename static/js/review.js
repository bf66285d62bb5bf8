/* The review inbox: send only one decision per page, even if a key or button is pressed twice. The keys
   1, 2 and 3 are handled in app.js. */
(() => {
  "use strict";

  const form = document.querySelector("[data-review]");
  if (!form) return;
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
  // The browser's back button may show a page whose form was already sent.
  window.addEventListener("pageshow", () => delete form.dataset.sent);
})();
