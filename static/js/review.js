/* The review inbox by keys: 1, 2 and 3 press the buttons that name them (app.js); here the page
   sees to it that the next pair is ready for them, and that one press is one decision. */
(() => {
  "use strict";

  const form = document.querySelector("[data-review]");
  if (!form) return;
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
  // Back and forward may show a page that was already sent.
  window.addEventListener("pageshow", () => delete form.dataset.sent);
})();
