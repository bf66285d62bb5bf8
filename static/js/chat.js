/* The chat: the message field (composer), streamed answers, and the list of messages. */
(() => {
  "use strict";

  const byId = (id) => document.getElementById(id);
  const composer = () => document.querySelector("[data-composer]");
  const list = () => document.querySelector("[data-follow]");

  // Enter sends the message; Shift+Enter adds a line break. While an input method is composing
  // (Chinese, Japanese …), Enter only selects a word; Safari reports this Enter as key 229.
  document.addEventListener("keydown", (event) => {
    const field = event.target;
    if (!field.matches?.("[data-composer], [data-edit-field]")) return;
    const composing = event.isComposing || event.keyCode === 229;
    const asksFirst = field.matches("[data-confirms]"); // only the button may send this form
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

  // The key "i" moves the focus to the composer.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "i" || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest("input, textarea, select, [contenteditable]") || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    composer()?.focus();
  });

  // In browsers without `field-sizing`, this script adapts the height of the field.
  if (!CSS.supports("field-sizing", "content")) {
    document.addEventListener("input", ({ target }) => {
      if (!target.matches("[data-composer], [data-edit-field]")) return;
      target.style.blockSize = "auto";
      target.style.blockSize = `${target.scrollHeight}px`;
    });
  }

  // Drafts: the browser stores the typed text until it is sent, so that a reload, a closed tab or an
  // expired session doesn't lose it. Signing out removes all drafts (app.js). The key of a draft
  // contains the person and the URL to which the form is sent.
  const draft = (place) => `draft ${composer()?.form.dataset.person} ${place ?? new URL(composer()?.form.action, location).pathname}`;
  function remember(text, place) {
    try {
      if (text.trim()) localStorage.setItem(draft(place), text);
      else localStorage.removeItem(draft(place));
    } catch { /* no storage: the text is still in the field */ }
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
  // Remove the draft if it equals the last sent message: the page was left before it got the response.
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

  // The list scrolls with the answer, unless the reader has scrolled up.
  const NEAR = 120;
  let near = true;
  const toEnd = () => { const place = list(); place.scrollTop = place.scrollHeight; near = true; };
  // If an answer with a forget card is higher than the list, scroll once to its beginning, which says
  // what was done. Then don't scroll again, so that no button moves away from the pointer.
  let begun = null;
  const follow = () => {
    const last = [...document.querySelectorAll("#bubbles > .bubble")].at(-1);
    if (!last?.querySelector(".forget") || last.offsetHeight <= list().clientHeight) return toEnd();
    if (last !== begun) last.scrollIntoView({ block: "start" });
    begun = last;
  };
  if (list()) {
    // A card that asks for confirmation gets the focus on its title. Scroll once to show its buttons; a
    // later click on the title doesn't scroll.
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
  // When earlier messages are inserted above, keep the scroll position of the visible messages.
  let height = 0;
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (detail.target?.matches?.(".more")) height = list().scrollHeight - list().scrollTop;
  });
  document.addEventListener("htmx:afterSettle", () => {
    if (!height) return;
    // Remove a repeated day heading between the inserted messages and the messages below them.
    const days = [...document.querySelectorAll("#bubbles > .bubble__day")];
    days.filter((one, place) => one.textContent === days[place - 1]?.textContent).forEach((one) => one.remove());
    list().scrollTop = list().scrollHeight - height;
    height = 0;
  });

  // If the URL links to a message that isn't on this page, load the page that contains it.
  const wanted = location.hash.slice(1);
  if (wanted.startsWith("msg_") && !byId(wanted) && !location.search.includes("at=")) {
    location.replace(`${location.pathname}?at=${wanted}#${wanted}`);
  }

  /* Answers. A form with [data-answers] is sent by this script, which shows the streamed answer. */
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
          remember(composer().value, new URL(next, location).pathname); // text typed since then
        }
        sessionStorage.setItem("answer", new URL(next, location).pathname);
        location.assign(next);
        leaving = true;
        return;
      }
      if (!response.ok) return await refused(response, form, words, before);
      taken = true;
      if (isNew) remember(composer().value); // text typed since then
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

  // Show the sent message at once. If sending fails, `failed` puts the text back into its field.
  function start(form, words) {
    const pending = byId("pending").content.cloneNode(true);
    const [mine, theirs] = pending.children;
    const bubbles = byId("bubbles");
    byId("composer-error")?.remove();
    // Keep the Stop button of an answer that another window requested; the server refuses this message.
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

  // The HTML is safe: the server rendered it from Markdown and sanitized it.
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
    // Remove day headings without messages; the received HTML contains the heading again.
    document.querySelectorAll("#bubbles > .bubble__day:not(:has(+ .bubble))").forEach((day) => day.remove());
    byId("ending")?.remove();
    document.querySelectorAll("#bubbles .only-last").forEach((one) => one.remove());
    // If the list was loaded again in the meantime, for example after a forget, remove duplicates.
    const said = document.createElement("template");
    said.innerHTML = data.html;
    said.content.querySelectorAll(".bubble[id]").forEach((one) => leave(one.id));
    window.htmx.swap(byId("bubbles"), data.html, { swapStyle: "beforeend" });
    for (const name of data.changed.split(", ")) window.htmx.trigger(document.body, name);
    announce([...document.querySelectorAll("#bubbles .bubble--assistant")].at(-1)?.querySelector(".bubble__text")?.innerText ?? "");
  }
  // Let screen readers read the answer once, then remove it, since it would be a duplicate on the page.
  function announce(words) {
    byId("said").textContent = words;
    setTimeout(() => { if (byId("said").textContent === words) byId("said").textContent = ""; }, 3000);
  }
  function clearPending() {
    document.querySelectorAll(".bubble--pending").forEach((bubble) => bubble.remove());
  }

  // The stream ended without an `ended` event: load the messages that the server has stored.
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

  // Put an unsent message back into the field, before the text typed in the meantime.
  function giveBack(form, words) {
    const field = composer();
    if (form.matches("[data-sends]") && field) setText(field, [words, field.value].filter(Boolean).join("\n\n"));
  }

  // A message sent during an answer is sent when the answer ends. Typing in the field cancels this.
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
    } catch { /* the end of the stream shows the result */ }
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
    // The Stop button replaces the Send button, so ignore the second click of a double click on Send.
    if (event.target.closest("[data-composer-stop]") && event.detail < 2) stop();
  });

  // The page of a new conversation requests the first answer itself.
  try {
    if (sessionStorage.getItem("answer") === location.pathname) {
      const form = document.querySelector("#ending [data-answers]");
      sessionStorage.removeItem("answer");
      form?.requestSubmit();
    }
  } catch { /* no storage: the person can press the button */ }

  // Editing a message in its bubble: Esc or Cancel restores the text.
  const unedited = new Map();
  document.addEventListener("htmx:beforeSwap", ({ detail: { target } }) => {
    if (target?.matches?.(".bubble__text")) unedited.set(target.id, target.cloneNode(true));
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-edit-cancel]")) leaveEditing(event);
  });
  function leaveEditing(event) {
    if (!composer()) return; // on a separate page, follow the Cancel link
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

  // Another tab or device may have added messages, so check for them when this tab becomes visible.
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
    place.addEventListener(name, () => lookAgain().catch(() => { /* offline: keep the page unchanged */ }));
  }

  // A suggestion fills the composer; the person decides whether to send it.
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
