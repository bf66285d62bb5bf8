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
})();
