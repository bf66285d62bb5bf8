/* Theme, menus, forms submitted on change, shortcuts, sheets, copying. Listeners are attached to the
   document, so that they also work for content that htmx inserts later. */
(() => {
  "use strict";

  const on = (type, selector, handle) =>
    document.addEventListener(type, (event) => {
      const found = event.target.closest?.(selector);
      if (found) handle(event, found);
    });

  // Apply the theme at once, then store it on the server with the same form as without JavaScript.
  on("submit", "[data-theme-form]", (event, form) => {
    const theme = event.submitter?.value;
    if (!theme) return;
    event.preventDefault();
    document.documentElement.dataset.theme = theme;
    for (const button of form.querySelectorAll("[name=theme]")) {
      button.setAttribute("aria-pressed", String(button.value === theme));
    }
    const body = new FormData(form);
    body.set("theme", theme);
    // `keepalive` sends the request even if the person leaves the page at once.
    fetch(form.action, { method: "POST", body, redirect: "manual", keepalive: true }).catch(() => {});
    closeMenus();
  });

  // Ignore a second submit within two seconds, for example a double click: its response would be an
  // error. Forms whose default submit is prevented are sent by another script and don't count.
  const ONCE_MS = 2000;
  const sent = new WeakMap();
  window.addEventListener("submit", (event) => {
    if (event.defaultPrevented || event.target.getAttribute("method") !== "post") return;
    if (event.timeStamp - (sent.get(event.target) ?? -ONCE_MS) < ONCE_MS) event.preventDefault();
    else sent.set(event.target, event.timeStamp);
  });

  // Signing out removes all drafts and ticks from the browser's storage.
  on("submit", 'form[action^="/signout/"], form[action^="/memory/data/everything/"]', () => {
    try {
      for (const key of Object.keys(localStorage)) if (key.startsWith("draft ")) localStorage.removeItem(key);
      for (const key of Object.keys(sessionStorage)) if (key.startsWith("ticks ")) sessionStorage.removeItem(key);
    } catch { /* no storage: nothing to remove */ }
  });

  // Menus (<details class="menu">): only one is open at a time; a click outside or Esc closes it.
  function closeMenus(except) {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (menu !== except && !menu.contains(except ?? null)) menu.open = false;
    }
  }
  document.addEventListener("click", (event) => {
    const menu = event.target.closest("details.menu");
    closeMenus(menu);
    if (menu && event.target.closest(".menu__item") && !event.target.closest("summary")) menu.open = false;
  });
  document.addEventListener("toggle", (event) => {
    const menu = event.target;
    if (!menu.matches?.("details.menu")) return;
    menu.classList.remove("menu--up");
    if (!menu.open) return;
    closeMenus(menu);
    const panel = menu.querySelector(".menu__panel").getBoundingClientRect();
    const above = menu.getBoundingClientRect().top;
    if (panel.bottom > window.innerHeight && above > panel.height) menu.classList.add("menu--up");
  }, true);

  // Move the focus from a clicked menu item to the menu's button. If the item opens a dialog, closing
  // the dialog returns the focus there; an item of a closed menu can't have the focus.
  document.addEventListener("click", ({ target }) => {
    const menu = target.closest(".menu__item")?.closest("details.menu");
    if (menu?.contains(document.activeElement)) menu.querySelector("summary").focus();
  }, true);
  document.addEventListener("focusout", ({ target, relatedTarget }) => {
    const menu = target.closest?.("details.menu[open]");
    if (menu && relatedTarget && !menu.contains(relatedTarget)) menu.open = false;
  });

  function stepInMenu(menu, step) {
    const items = [...menu.querySelectorAll(".menu__item, .menu__panel input:not([type=hidden])")];
    const at = items.indexOf(document.activeElement);
    // From the menu's button, the up key leads to the last item.
    const from = at < 0 && step < 0 ? 0 : at;
    items[(from + step + items.length) % items.length]?.focus();
  }
  document.addEventListener("keydown", (event) => {
    const outside = event.target === document.body && event.key === "Escape";
    const menu = outside ? document.querySelector("details.menu[open]") : event.target.closest?.("details.menu[open]");
    if (!menu) return;
    if (event.key === "Escape") {
      menu.open = false;
      menu.querySelector("summary").focus();
      event.stopPropagation();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      stepInMenu(menu, event.key === "ArrowDown" ? 1 : -1);
    }
  });

  // Switches, filters and sort orders submit their form when they change.
  on("change", "[data-submit-on-change]", (_event, field) => field.form?.requestSubmit());

  // Offer the browser's time zone to a person who hasn't chosen a time zone.
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  function offerTimeZone() {
    for (const offer of document.querySelectorAll("[data-time-zone-offer]")) {
      const named = new Intl.DateTimeFormat(document.documentElement.lang, { timeZoneName: "long" });
      const name = named.formatToParts(new Date()).find((part) => part.type === "timeZoneName");
      offer.querySelector("[data-time-zone]").textContent = name?.value ?? zone;
      offer.querySelector("[data-time-zone-use]").value = zone;
      offer.hidden = !zone || /^(Etc\/)?(UTC|GMT|UCT|Zulu)$/.test(zone);
    }
  }
  offerTimeZone();
  for (const field of document.querySelectorAll("[data-time-zone-field]")) {
    if (field.type === "hidden" || [...field.options].some((one) => one.value === zone)) field.value = zone;
  }

  on("click", "[data-shows-secret]", (_event, button) => {
    const field = button.parentElement.querySelector("input");
    const isShown = field.type === "text";
    field.type = isShown ? "password" : "text";
    field.autocapitalize = "none"; // phones do the same in a password field
    button.setAttribute("aria-pressed", String(!isShown));
  });

  // Show the name of the chosen file in the page, since the browser's own text may be in another language.
  on("change", "[data-file]", (_event, field) => {
    field.form.querySelector("[data-file-name]").textContent = field.files[0]?.name ?? "";
  });

  // The keyboard help lists only the keys that work on this page.
  on("click", '[data-dialog-open="keyboard-help"]', () => {
    for (const line of document.querySelectorAll("#keyboard-help [data-works-with]")) {
      line.hidden = !document.querySelector(line.dataset.worksWith);
    }
  });

  // "/" moves the focus to the search field; other single keys click the element with that `data-key`.
  // Ctrl+/ opens the keyboard help even while the focus is in a text field.
  const typing = (element) => element.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
  document.addEventListener("keydown", (event) => {
    const help = (event.ctrlKey || event.metaKey) && event.key === "/" && document.querySelector('[data-key="?"]');
    if (help && !document.querySelector("dialog[open]")) {
      event.preventDefault();
      help.click();
    }
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(event.target) || document.querySelector("dialog[open]")) return;
    if (event.key === "/") {
      const search = [...document.querySelectorAll("[data-shortcut-search]")].find((field) => field.checkVisibility());
      if (!search) return;
      event.preventDefault();
      search.focus();
      search.select();
    } else if (event.key.length === 1) {
      document.querySelector(`[data-key="${CSS.escape(event.key)}"]`)?.click();
    }
  });
  on("keydown", "[data-shortcut-search]", (event, field) => {
    if (event.key !== "Escape" || event.isComposing) return;
    if (field.value) {
      field.value = "";
      field.dispatchEvent(new Event("input", { bubbles: true }));
    } else {
      field.blur();
    }
  });

  // Esc cancels a form inside a row or below a phrase, like its Cancel link.
  on("keydown", ".row, .portrait__phrase", (event, row) => {
    if (event.key === "Escape" && !event.isComposing) row.querySelector("[data-cancel]")?.click();
  });

  // To correct a phrase of "About you", the form moves below the phrase. Cancelling moves the form back
  // and returns the focus to the phrase's button.
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const { target: form, requestConfig: { elt } } = detail;
    if (form?.id !== "tell") return;
    if (elt.matches(".portrait__correct")) elt.closest(".portrait__phrase").append(form);
    if (!elt.matches("[data-cancel]")) return;
    form.closest(".portrait__phrase")?.querySelector(".portrait__correct").focus();
    document.getElementById("tell-home").append(form);
  });

  // Mark a row as busy until the response to its change arrives.
  function markBusy(elt, busy) {
    const rows = elt.closest(".bulk") ? document.querySelectorAll(".row:has(.row__check:checked)") : [elt.closest(".row")];
    for (const row of rows) {
      if (busy) row?.setAttribute("aria-busy", "true");
      else row?.removeAttribute("aria-busy");
    }
  }
  document.addEventListener("htmx:beforeSend", ({ detail }) => markBusy(detail.requestConfig.elt, true));
  document.addEventListener("htmx:afterRequest", ({ detail }) => markBusy(detail.requestConfig.elt, false));

  // A replaced row keeps the focus. If the row left the list, the next row gets the focus.
  let focusedRow = "";
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const row = detail.target?.closest?.(".row");
    focusedRow = row?.contains(document.activeElement) ? row.id : "";
  });
  document.addEventListener("htmx:afterSettle", () => {
    const row = focusedRow && document.getElementById(focusedRow);
    focusedRow = "";
    if (!row || document.activeElement !== document.body) return;
    const near = [row, row.nextElementSibling, row.previousElementSibling].find((one) => one?.matches(".row:not([hidden])"));
    near?.querySelector("summary, .row__title")?.focus();
  });

  // The bulk bar shows the number of ticked rows; its last link unticks all of them.
  function countTicked(area) {
    const ticked = area.querySelectorAll(".row__check:checked").length;
    for (const place of area.querySelectorAll("[data-bulk-count]")) place.textContent = ticked;
  }
  document.querySelectorAll(".selectable").forEach(countTicked);
  document.addEventListener("htmx:oobAfterSwap", () => document.querySelectorAll(".selectable").forEach(countTicked));
  on("change", ".selectable .row__check", (_event, box) => countTicked(box.closest(".selectable")));
  on("click", "[data-bulk-none]", (event, link) => {
    event.preventDefault();
    const area = link.closest(".selectable");
    for (const box of area.querySelectorAll(".row__check:checked")) box.checked = false;
    countTicked(area);
  });

  // The button of a form that acts on ticked items is disabled while no item is ticked.
  function needChoice(form) {
    const button = form.querySelector(".button--primary, .button--danger, .forget__chosen");
    if (button) button.disabled = !form.querySelector("[type=checkbox]:checked, [type=radio]:checked");
  }
  const needChoices = () => document.querySelectorAll("[data-needs-choice]").forEach(needChoice);
  needChoices();
  document.addEventListener("htmx:afterSettle", needChoices);
  on("change", "[data-needs-choice]", (event, form) => {
    // The choice "Exactly as typed" excludes the proposed changes.
    const other = event.target.matches("[type=radio][name=exact]") ? "[type=checkbox]" : "[name=exact]";
    for (const input of form.querySelectorAll(`${other}:checked`)) input.checked = false;
    needChoice(form);
  });

  // Close an open sheet when the window becomes so wide that the sheet is a column (without a shadow).
  window.addEventListener("resize", () => {
    for (const sheet of document.querySelectorAll(".sheet:popover-open")) {
      if (getComputedStyle(sheet).boxShadow === "none") sheet.hidePopover();
    }
  });
  on("click", ".sheet:popover-open a", (_event, link) => link.closest(".sheet").hidePopover());

  // A click beside an open sheet only closes the sheet; it doesn't click the element below the pointer.
  let closing = null;
  document.addEventListener("pointerdown", ({ target }) => {
    const sheet = document.querySelector("[popover]:popover-open");
    closing = sheet && !sheet.contains(target) ? sheet : null;
  }, true);
  for (const type of ["mousedown", "mouseup", "click"]) {
    document.addEventListener(type, (event) => {
      if (!closing || !event.detail) return; // a click made by the keyboard has the detail 0
      event.preventDefault();
      event.stopImmediatePropagation();
      if (type !== "click") return;
      if (closing.matches(":popover-open")) closing.hidePopover();
      closing = null;
    }, true);
  }

  // If the tabs don't fit, scroll to the tab of the current page.
  for (const tab of document.querySelectorAll(".tabs > [aria-current]")) {
    const row = tab.parentElement;
    row.scrollLeft = tab.offsetLeft + tab.offsetWidth - row.clientWidth;
  }

  function textOf(source) {
    if (!source) return "";
    const copy = source.cloneNode(true);
    copy.querySelectorAll("[data-not-copied]").forEach((one) => one.remove());
    return copy.textContent.trim();
  }
  on("click", "[data-copy]", async (event, button) => {
    event.preventDefault();
    const source = document.getElementById(button.dataset.copy);
    await navigator.clipboard.writeText(source?.value ?? textOf(source));
    window.showToast?.(button.dataset.copied, "success");
  });
})();
