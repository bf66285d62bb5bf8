/* The composer, answers as they come, and the list of messages. */
(() => {
  "use strict";

  const byId = (id) => document.getElementById(id);
  const composer = () => document.querySelector("[data-composer]");
  const list = () => document.querySelector("[data-follow]");

  // Enter sends, Shift+Enter breaks the line. While an input method is composing (Chinese,
  // Japanese …) Enter only picks a word; Safari reports that Enter as key 229.
  document.addEventListener("keydown", (event) => {
    const field = event.target;
    if (!field.matches?.("[data-composer], [data-edit-field]")) return;
    const composing = event.isComposing || event.keyCode === 229;
    const asksFirst = field.matches("[data-confirms]"); // then only its button sends
    if (event.key === "Enter" && !event.shiftKey && !composing && !asksFirst) {
      event.preventDefault();
      if (!field.value.trim()) return;
      if (!answering) field.form.requestSubmit();
      else if (field.matches("[data-composer]")) sendLater(true);
    } else if (event.key === "ArrowUp" && !composing && field.matches("[data-composer]") && !field.value) {
      const edit = [...document.querySelectorAll("#bubbles .bubble--user [data-edit]")].at(-1);
      if (!edit || answering || document.querySelector("#bubbles > .bubble ~ .more")) return;
      event.preventDefault();
      edit.click();
    } else if (event.key === "Escape" && !composing) {
      if (field.matches("[data-edit-field]")) leaveEditing(event);
      else if (!answering) field.blur();
    }
  });
  document.addEventListener("keydown", (event) => {
    const elsewhere = document.querySelector("dialog[open], details.menu[open], .sheet:popover-open");
    if (event.key === "Escape" && answering && !event.isComposing && !elsewhere) stop();
  });

  // "i" goes back to the composer.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "i" || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest("input, textarea, select, [contenteditable]") || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    composer()?.focus();
  });

  // Browsers without `field-sizing` grow the field by script.
  if (!CSS.supports("field-sizing", "content")) {
    document.addEventListener("input", ({ target }) => {
      if (!target.matches("[data-composer], [data-edit-field]")) return;
      target.style.blockSize = "auto";
      target.style.blockSize = `${target.scrollHeight}px`;
    });
  }

  // What is being typed is kept in this browser until it is sent: for a reload, for a closed tab, for
  // somebody who has to sign in again. Signing out removes it (app.js).
  // A draft belongs to the place it will be sent to, whatever the address of the page.
  const draft = (place) => `draft ${composer()?.form.dataset.person} ${place ?? new URL(composer()?.form.action, location).pathname}`;
  function remember(text, place) {
    try {
      if (text.trim()) localStorage.setItem(draft(place), text);
      else localStorage.removeItem(draft(place));
    } catch { /* no storage: the field still has it */ }
  }
  document.addEventListener("input", ({ target }) => {
    if (target.matches("[data-composer]")) remember(target.value);
  });
  function recall() {
    try {
      return localStorage.getItem(draft()) ?? "";
    } catch {
      return "";
    }
  }
  function setText(field, text) {
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  // What was sent is no draft, even if the page was left before it heard that it had arrived.
  const said = [...document.querySelectorAll("#bubbles .bubble--user .bubble__text")].at(-1);
  if (said && recall().trim() === said.textContent.trim()) remember("");
  if (composer() && !composer().value && recall()) setText(composer(), recall());
  const fresh = document.querySelector("[data-new-draft]");
  const begins = fresh && new URL(fresh.closest("a").href).pathname;
  if (fresh && begins !== new URL(composer().form.action, location).pathname) {
    try {
      fresh.hidden = !localStorage.getItem(draft(begins));
    } catch { /* no storage: no draft */ }
  }

  // The list follows the answer unless the reader has scrolled up.
  const NEAR = 120;
  let near = true;
  const toEnd = () => { const place = list(); place.scrollTop = place.scrollHeight; near = true; };
  // Of an answer with a long form below it, the beginning is shown once: it says what was done.
  // After that the list stays where the reader put it, so that no button moves under the pointer.
  let begun = null;
  const follow = () => {
    const last = [...document.querySelectorAll("#bubbles > .bubble")].at(-1);
    if (!last?.querySelector(".forget") || last.offsetHeight <= list().clientHeight) return toEnd();
    if (last !== begun) last.scrollIntoView({ block: "start" });
    begun = last;
  };
  if (list()) {
    // A form that asks for confirmation focuses its title, and is shown with its buttons once: a later
    // press on the title moves nothing.
    list().addEventListener("focusin", ({ target }) => {
      const asks = target.matches(".forget .card__title") && target.closest(".forget");
      if (!asks || asks.dataset.seen) return;
      asks.dataset.seen = "yes";
      asks.scrollIntoView({ block: "end" });
    });
    list().addEventListener("scroll", () => {
      const place = list();
      near = place.scrollHeight - place.scrollTop - place.clientHeight < NEAR;
      byId("to-end").hidden = near;
    }, { passive: true });
    new MutationObserver(() => { if (near) follow(); })
      .observe(list(), { childList: true, subtree: true, characterData: true });
    if (!location.hash || location.hash === "#end") follow();
    byId("to-end").addEventListener("click", toEnd);
  }
  // Earlier messages come above: what is being read stays where it is.
  let height = 0;
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (detail.target?.matches?.(".more")) height = list().scrollHeight - list().scrollTop;
  });
  document.addEventListener("htmx:afterSettle", () => {
    if (!height) return;
    // The first of the messages below may name a day that the ones above end with.
    const days = [...document.querySelectorAll("#bubbles > .bubble__day")];
    days.filter((one, place) => one.textContent === days[place - 1]?.textContent).forEach((one) => one.remove());
    list().scrollTop = list().scrollHeight - height;
    height = 0;
  });

  // A link to a message that is further back than this page goes: ask for the page around it.
  const wanted = location.hash.slice(1);
  if (wanted.startsWith("msg_") && !byId(wanted) && !location.search.includes("at=")) {
    location.replace(`${location.pathname}?at=${wanted}#${wanted}`);
  }

  /* Answers. A form with [data-answers] is sent here and its answer read as it comes. */
  let answering = null; // { stopUrl, abort, stopped }

  document.addEventListener("submit", (event) => {
    const form = event.target.closest("[data-answers]");
    if (!form) return;
    event.preventDefault();
    if (answering || form.getAttribute("aria-busy") === "true") return;
    answer(form);
  });

  async function answer(form) {
    const body = new FormData(form);
    const words = body.get("text")?.trim() ?? "";
    const isNew = form.matches("[data-sends]");
    const before = start(form, words);
    answering = { abort: new AbortController(), stopUrl: byId("composer-stop")?.dataset.stop };
    let taken = false, ended = false, leaving = false;
    try {
      const response = await fetch(form.action, {
        method: "POST",
        body,
        redirect: "manual",
        signal: answering.abort.signal,
        headers: { Accept: "text/event-stream", "HX-Request": "true", "HX-Target": "bubbles", "X-CSRFToken": token() },
      });
      const next = response.headers.get("HX-Redirect");
      if (next && response.ok) {
        if (isNew) {
          remember("");
          remember(composer().value, new URL(next, location).pathname); // typed since it was sent
        }
        sessionStorage.setItem("answer", new URL(next, location).pathname);
        location.assign(next);
        leaving = true;
        return;
      }
      if (!response.ok) return await refused(response, form, words, before);
      taken = true;
      if (isNew) remember(composer().value); // typed since it was sent
      for await (const [name, data] of events(response.body)) {
        if (name === "begun") {
          data.gone.forEach(leave);
          if (form.matches("[data-edits]")) before.hidden.forEach((one) => one.remove());
        }
        if (name === "shown" && !answering?.stopped) show(data.html);
        if (name === "ended") { ended = true; end(data); }
      }
      if (!ended) await lost();
    } catch (error) {
      if (taken || answering?.stopped) await lost();
      else failed(words, before, form, text(navigator.onLine ? "offline" : "noNetwork"));
    } finally {
      if (!leaving) finish();
    }
  }

  function token() {
    return window.csrfToken();
  }
  const text = (name) => byId("toast-template").dataset[name];

  // What was said stands there at once; it goes back where it was typed if it can't be sent.
  function start(form, words) {
    const pending = byId("pending").content.cloneNode(true);
    const [mine, theirs] = pending.children;
    const bubbles = byId("bubbles");
    byId("composer-error")?.remove();
    // An answer under way elsewhere keeps its Stop button: what is sent meanwhile is refused.
    document.querySelector("#ending:not(.ending--answering)")?.remove();
    let hidden = [];
    if (form.matches("[data-sends]")) {
      mine.querySelector(".bubble__text").textContent = words;
      setText(composer(), "");
      remember(words);
    } else if (form.matches("[data-edits]")) {
      mine.querySelector(".bubble__text").textContent = words;
      hidden = fromHereOn(form.closest(".bubble"));
    } else {
      mine.remove();
      hidden = lastExchange().filter((one) => one.matches(".bubble--assistant"));
    }
    hidden.forEach((one) => { one.hidden = true; });
    bubbles.append(...pending.children);
    toEnd();
    setBusy(true);
    return { hidden, theirs };
  }
  function fromHereOn(bubble) {
    const all = [...document.querySelectorAll("#bubbles > *")];
    return all.slice(all.indexOf(bubble));
  }
  function lastExchange() {
    return [...document.querySelectorAll("#bubbles > .bubble")].slice(-2)
      .filter((one, at, all) => one.matches(".bubble--user") || (all[0] !== one && all[0].matches(".bubble--user")));
  }
  function setBusy(busy) {
    const field = composer();
    if (!field) return;
    field.form.classList.toggle("is-streaming", busy);
    field.form.setAttribute("aria-busy", String(busy));
    byId("composer-send").disabled = busy;
  }
  function finish() {
    const field = composer();
    answering = null;
    setBusy(false);
    setStopping(false);
    const waits = byId("composer-waits")?.textContent;
    sendLater(false);
    if (waits && field?.value.trim()) return field.form.requestSubmit();
    if (field && matchMedia("(pointer: fine)").matches && !document.querySelector("dialog[open]")) field.focus();
  }

  async function* events(stream) {
    const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const [first, second] = block.split("\n");
        if (first.startsWith("event: ")) yield [first.slice(7), JSON.parse(second.slice(6))];
      }
    }
  }

  // The HTML is the server's own: Markdown carried out and cleaned there.
  function show(html) {
    const place = document.querySelector(".bubble--assistant.bubble--pending");
    if (!place) return;
    place.classList.add("bubble--streaming");
    place.querySelector(".bubble__text").innerHTML = html;
  }
  const leave = (id) => byId(id)?.remove();

  function end(data) {
    clearPending();
    data.gone.forEach(leave);
    // What comes names its day again where nothing was said on it before.
    document.querySelectorAll("#bubbles > .bubble__day:not(:has(+ .bubble))").forEach((day) => day.remove());
    byId("ending")?.remove();
    document.querySelectorAll("#bubbles .only-last").forEach((one) => one.remove());
    // A list that was shown anew meanwhile, as after a forget, has the message already.
    const said = document.createElement("template");
    said.innerHTML = data.html;
    said.content.querySelectorAll(".bubble[id]").forEach((one) => leave(one.id));
    window.htmx.swap(byId("bubbles"), data.html, { swapStyle: "beforeend" });
    for (const name of data.changed.split(", ")) window.htmx.trigger(document.body, name);
    announce([...document.querySelectorAll("#bubbles .bubble--assistant")].at(-1)?.querySelector(".bubble__text")?.innerText ?? "");
  }
  // Read aloud once; who goes on reading must not meet the answer a second time below the list.
  function announce(words) {
    byId("said").textContent = words;
    setTimeout(() => { if (byId("said").textContent === words) byId("said").textContent = ""; }, 3000);
  }
  function clearPending() {
    document.querySelectorAll(".bubble--pending").forEach((bubble) => bubble.remove());
  }

  // The stream ended before its end: the page shows what is there.
  async function lost() {
    clearPending();
    await window.htmx.ajax("GET", location.pathname, { target: "#bubbles", swap: "outerHTML" });
  }

  async function refused(response, form, words, before) {
    const html = await response.text();
    if (response.status === 422 && form.matches("[data-sends]")) {
      undo(before);
      window.htmx.swap(byId("composer"), html, { swapStyle: "outerHTML" });
      remember(words);
    } else if (response.status === 422 && form.matches("[data-edits]")) {
      undo(before);
      window.htmx.swap(form, html, { swapStyle: "outerHTML" });
    } else if (response.status === 409) {
      clearPending();
      window.htmx.swap(byId("bubbles"), html, { swapStyle: "outerHTML" });
      giveBack(form, words);
    } else {
      const isOut = [0, 401, 403].includes(response.status);
      failed(words, before, form, isOut ? text("signedOut") : text(response.status === 404 ? "notFound" : "failed"));
    }
  }
  function undo({ hidden }) {
    clearPending();
    hidden.forEach((one) => { one.hidden = false; });
  }
  function failed(words, before, form, told) {
    undo(before);
    giveBack(form, words);
    window.showToast?.(told, "error");
  }

  // What couldn't be sent stands in the field again, before what was typed meanwhile.
  function giveBack(form, words) {
    const field = composer();
    if (form.matches("[data-sends]") && field) setText(field, [words, field.value].filter(Boolean).join("\n\n"));
  }

  // What is sent during an answer waits for its end; typing on takes it back.
  function sendLater(waits) {
    const note = byId("composer-waits");
    if (note) note.textContent = waits ? note.dataset.words : "";
  }
  document.addEventListener("input", ({ target }) => {
    if (target.matches("[data-composer]")) sendLater(false);
  });

  async function stop() {
    if (!answering || answering.stopped) return;
    const mine = answering;
    mine.stopped = true;
    setStopping(true);
    try {
      await fetch(mine.stopUrl, { method: "POST", redirect: "manual", headers: { "HX-Request": "true", "X-CSRFToken": token() } });
    } catch { /* the stream tells how it goes on */ }
    setTimeout(() => { if (answering === mine) mine.abort.abort(); }, 4000);
  }
  function setStopping(stops) {
    const button = byId("composer-stop");
    if (!button || button.disabled === stops) return;
    button.disabled = stops;
    button.form.classList.toggle("is-stopping", stops);
    const words = button.dataset.stopping;
    button.dataset.stopping = button.getAttribute("aria-label");
    button.setAttribute("aria-label", words);
  }
  document.addEventListener("click", (event) => {
    // Stop takes the place of Send: the second click of a double click on Send mustn't stop.
    if (event.target.closest("[data-composer-stop]") && event.detail < 2) stop();
  });

  // The page of a conversation that was begun just now asks for its first answer.
  try {
    if (sessionStorage.getItem("answer") === location.pathname) {
      const form = document.querySelector("#ending [data-answers]");
      sessionStorage.removeItem("answer");
      form?.requestSubmit();
    }
  } catch { /* no storage: the button is there */ }

  // Editing in the bubble: Esc or Cancel brings the words back.
  const unedited = new Map();
  document.addEventListener("htmx:beforeSwap", ({ detail: { target } }) => {
    if (target?.matches?.(".bubble__text")) unedited.set(target.id, target.cloneNode(true));
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-edit-cancel]")) leaveEditing(event);
  });
  function leaveEditing(event) {
    if (!composer()) return; // on a page of its own the link leads back
    event.preventDefault();
    event.stopPropagation();
    const form = event.target.closest("form");
    form.replaceWith(unedited.get(form.id));
    composer().focus();
  }
  document.addEventListener("htmx:afterSettle", () => {
    const field = document.querySelector("#bubbles [data-edit-field]:not([data-seen])");
    if (!field) return;
    field.dataset.seen = "yes";
    near = false;
    const asked = field.form.querySelector("[data-edit-confirm]");
    if (asked) {
      asked.focus({ preventScroll: true });
      for (const one of [asked, field.form]) one.scrollIntoView({ block: "nearest" });
      return;
    }
    field.form.scrollIntoView({ block: "nearest" });
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  });

  // Another tab or device may have gone on meanwhile: coming back to this one shows it.
  async function lookAgain() {
    const page = byId("bubbles");
    if (document.visibilityState !== "visible" || !page || !composer()?.form.matches("[data-has-page]")) return;
    if (answering || page.querySelector(".edit, #ending[hx-get], .bubble ~ .more")) return;
    const response = await fetch(composer().form.action, { headers: { "HX-Request": "true", "HX-Target": "bubbles" }, redirect: "manual" });
    if (!response.ok || answering) return;
    const html = await response.text();
    if (answering) return;
    const fresh = document.createElement("template");
    fresh.innerHTML = html;
    const ids = (root) => [...root.querySelectorAll(".bubble[id]")].map((one) => one.id);
    const there = ids(fresh.content), here = ids(document);
    if (here.slice(-there.length).join() === there.join()) return;
    window.htmx.swap(byId("bubbles"), html, { swapStyle: "outerHTML" });
    if (near) toEnd();
  }
  for (const [place, name] of [[document, "visibilitychange"], [window, "focus"]]) {
    place.addEventListener(name, () => lookAgain().catch(() => { /* offline: the page stays as it is */ }));
  }

  // Suggestions fill the composer; what stands there is kept for the person to send.
  document.addEventListener("click", (event) => {
    const suggestion = event.target.closest("[data-fill]");
    if (!suggestion || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    setText(composer(), suggestion.dataset.fill);
    composer().focus();
  });

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy-code]");
    if (!button) return;
    await navigator.clipboard.writeText(button.closest(".code").querySelector("code").textContent);
    window.showToast?.(button.dataset.copied, "success");
  });

  if (composer() && matchMedia("(pointer: fine)").matches && (!location.hash || location.hash === "#end")) {
    composer().focus({ preventScroll: true });
  }
})();
