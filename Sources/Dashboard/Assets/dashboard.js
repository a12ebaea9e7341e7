// What the pages do beyond plain HTML. Everything works without it: forms post, the server asks for confirmation.
"use strict";

// MARK: Times that count on

// The server's clock counts, not this machine's.
const skew = Number(document.body.dataset.now || Date.now()) - Date.now();

function relative(seconds) {
  const size = Math.abs(seconds);
  const words = size < 60 ? `${Math.floor(size)} s`
    : size < 3600 ? `${Math.floor(size / 60)} min`
    : size < 86400 ? `${Math.floor(size / 3600)} h`
    : `${Math.floor(size / 86400)} d`;
  return seconds >= 0 ? `${words} ago` : `in ${words}`;
}

function tick() {
  const now = Date.now() + skew;
  for (const time of document.querySelectorAll("time[data-relative]")) {
    const words = relative((now - Date.parse(time.dateTime)) / 1000);
    if (time.textContent !== words) time.textContent = words;
  }
}
setInterval(() => { if (!document.hidden) tick(); }, 5000);

// MARK: Live values

// A page asks for events while somebody looks at it: not in the background, and half an hour at most without a click.
class Live {
  static longest = 30 * 60 * 1000;

  constructor(address, button) {
    this.address = address;
    this.button = button;
    this.source = null;
    this.stoppedFor = null;
    this.timer = null;
    button.hidden = false;
    button.addEventListener("click", () => this.source ? this.stop("Paused") : this.start());
    window.addEventListener("blur", () => this.rest());
    window.addEventListener("focus", () => this.wake());
    document.addEventListener("visibilitychange", () => document.hidden ? this.rest() : this.wake());
    window.addEventListener("pagehide", () => this.rest());
    window.addEventListener("pageshow", (event) => { if (event.persisted) this.wake(); });
    if (document.hidden) this.show("paused", "Paused"); else this.start();
  }

  start() {
    this.stoppedFor = null;
    this.close();
    const source = new EventSource(this.address);
    this.source = source;
    this.show("waiting", "Connecting");
    source.addEventListener("open", () => this.show("live", "Live"));
    source.addEventListener("patch", (event) => { this.show("live", "Live"); patch(JSON.parse(event.data)); });
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) this.stop("No connection");
      else this.show("waiting", "Reconnecting");
    });
    this.timer = setTimeout(() => this.stop("Paused after 30 minutes"), Live.longest);
  }

  close() {
    if (this.source) this.source.close();
    this.source = null;
    clearTimeout(this.timer);
  }

  // In the background: goes on by itself.
  rest() {
    if (!this.source) return;
    this.close();
    this.show("paused", "Paused");
  }

  wake() {
    if (!this.source && !this.stoppedFor) this.start();
  }

  // Goes on only when somebody says so.
  stop(why) {
    this.close();
    this.stoppedFor = why;
    this.show("stopped", why);
  }

  show(state, words) {
    this.button.dataset.state = state;
    this.button.textContent = state === "paused" || state === "stopped" ? `${words} · resume` : words;
    this.button.title = state === "live" ? "Values on this page are kept up to date. Click to pause." : "";
  }
}

// The server's own markup, escaped there. A part that has the focus or a selection is left alone: nobody wants a button
// to vanish under the finger. While a question is asked nothing changes, since the form that asks must stay.
function patch(parts) {
  if (document.querySelector("dialog[open]")) return;
  const selection = getSelection();
  for (const [id, markup] of Object.entries(parts)) {
    const element = document.getElementById(id);
    if (!element || (element !== document.activeElement && element.contains(document.activeElement))) continue;
    if (!selection.isCollapsed && element.contains(selection.anchorNode)) continue;
    const open = [...element.querySelectorAll("details[open]")].map((details) => details.id);
    element.innerHTML = markup;
    for (const details of element.querySelectorAll("details")) {
      if (details.id && open.includes(details.id)) details.open = true;
    }
    enliven(element);
  }
  tick();
}

// MARK: Questions before what cannot be undone

function ask(form, submitter) {
  const dialog = document.createElement("dialog");
  const title = document.createElement("h2");
  title.textContent = form.dataset.confirm;
  title.id = "confirm-title";
  dialog.setAttribute("aria-labelledby", title.id);
  const words = document.createElement("p");
  words.textContent = form.dataset.effect || "";
  const actions = document.createElement("div");
  actions.className = "actions";
  const yes = document.createElement("button");
  yes.type = "button";
  yes.textContent = submitter ? submitter.textContent : "Go on";
  yes.className = submitter ? submitter.className.replace("soft", "").trim() : "";
  const no = document.createElement("button");
  no.type = "button";
  no.className = "soft";
  no.textContent = "Leave it";
  actions.append(yes, no);
  dialog.append(title, words, actions);
  document.body.append(dialog);
  no.addEventListener("click", () => dialog.close());
  yes.addEventListener("click", () => {
    form.elements.confirmed.value = "1";
    dialog.close();
    HTMLFormElement.prototype.submit.call(form);
    // Whoever comes back to this page is asked again.
    setTimeout(() => { form.elements.confirmed.value = "0"; }, 0);
  });
  dialog.addEventListener("close", () => { dialog.remove(); if (submitter) submitter.focus(); });
  dialog.showModal();
  no.focus();
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.confirm && form.elements.confirmed && form.elements.confirmed.value !== "1") {
    event.preventDefault();
    ask(form, event.submitter);
    return;
  }
  // Short addresses: fields left empty are no part of them.
  if (form.method === "get") {
    for (const field of form.elements) if (field.name && !field.value) field.disabled = true;
    setTimeout(() => { for (const field of form.elements) field.disabled = false; }, 0);
  }
});

// MARK: Ids one can copy

function enliven(root) {
  for (const button of root.querySelectorAll("button[data-copy]")) {
    // Only pages that came safely, or from this machine, may write to the clipboard.
    if (!navigator.clipboard) continue;
    button.hidden = false;
  }
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
});

// MARK: Keys

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea, [contenteditable]")) return;
  const field = document.querySelector("[data-search]");
  event.preventDefault();
  if (!field) {
    location.href = "/deliveries#filter-account";
    return;
  }
  field.focus();
  field.select();
});

// MARK: Start

enliven(document);
tick();
if (location.hash === "#filter-account") document.getElementById("filter-account")?.focus();
const address = document.body.dataset.events;
if (address) new Live(address, document.getElementById("live"));
