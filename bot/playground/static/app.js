// The page: a route (#/person/channel/thread), a feed of changes, and what is drawn from them.
import {composer} from "./composer.js";
import {arrows, h} from "./dom.js";
import {drawMessages} from "./messages.js";
import {drawHome, hideModal, modalView, showModal} from "./modal.js";
import {toggleMenu} from "./menu.js";
import {forwardSheet, groupSheet, workflowSheet} from "./sheets.js";
import {drawSidebar, keepArrows} from "./sidebar.js";
import {act, groupName, inThread, isChanging, loadGuide, loadRoom, loadWorkspace, room, store, take, topLevel} from "./store.js";
import {drawPrompts, drawWelcome, emptyThread, followUp, tryItems} from "./welcome.js";

const PRESS_MS = 5000;
const at = (id) => document.getElementById(id);
const unescaped = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
let feed = null;
let pending = 0;
let pressed = -Infinity;
let again = 0;
let answered = null; // the thread of my question in which the app wrote last, until it was shown
let routing = Promise.resolve();
let fields = {};

const page = {
  openChannel(id) {
    go(store.me, id, null);
  },
  /** A place that may be new to this page; "dm" is the app's. */
  async openPlace(id) {
    if (id === "dm") return page.openApp();
    if (!room(id)) await loadWorkspace();
    go(store.me, id, null);
  },
  newGroup() {
    groupSheet(page);
  },
  forward(message, channel) {
    forwardSheet(message, channel, page);
  },
  async copyLink(message, channel) {
    const link = `${location.origin}/archives/${channel}/p${message.ts.replace(".", "")}`;
    await navigator.clipboard?.writeText(link).catch(() => null);
    toast(`The link was copied: ${link}`);
  },
  async openApp(tab = "messages") {
    store.tab = tab;
    const opened = await page.run(act("open_home", {tab}));
    if (!opened) return;
    if (!room(opened.channel)) await loadWorkspace();
    if (store.channel === opened.channel) draw();
    else go(store.me, opened.channel, null);
  },
  become(user) {
    localStorage.setItem("playground.me", user);
    go(user, store.channel, null);
  },
  async openThread(ts, {focus = false} = {}) {
    await go(store.me, store.channel, ts);
    if (focus) fields.thread?.focus();
  },
  edit(message) {
    const text = unescaped(message.text).replace(/<@(\w+)>/g, (whole, id) => `@${nameOf(id) ?? id}`).replace(/<(https?:[^>|]+)>/g, "$1");
    const changed = window.prompt("Edit message", text);
    if (changed?.trim() && changed !== text) page.run(act("edit", {channel: store.channel, ts: message.ts, text: changed}));
  },
  remove(message) {
    if (window.confirm("Delete this message?")) page.run(act("delete", {channel: store.channel, ts: message.ts}));
  },
  async run(promise) {
    try {
      return await promise;
    } catch (error) {
      toast(error.message);
      return null;
    }
  },
};

function nameOf(id) {
  return id === store.workspace.bot.id ? store.workspace.bot.name : store.workspace.people.find((one) => one.id === id)?.name;
}

/** Resolves when it is shown. */
function go(user, channel, thread) {
  location.hash = `#/${[user, channel, thread].filter(Boolean).join("/")}`;
  return follow();
}

/** Goes where the address says, one way after the other: none ends in the midst of another. `anew`: loads all again. */
function follow({anew = false} = {}) {
  routing = routing.then(() => route(anew)).catch((error) => {
    if (!anew) toast(error.message);
    if (store.workspace) reloadIn(2000);
  });
  return routing;
}

function reloadIn(ms) {
  clearTimeout(again);
  again = setTimeout(() => follow({anew: true}), ms);
}

async function route(anew) {
  const [user, channel, thread] = location.hash.replace(/^#\//, "").split("/");
  const wanted = user && user !== "-" ? user : (store.me ?? localStorage.getItem("playground.me") ?? "");
  if (anew || wanted !== store.me) await become(wanted);
  const found = room(channel) ?? room(store.channel) ?? store.workspace.channels.find((one) => !one.is_im);
  if (found.id !== store.channel) store.tab = "messages";
  store.channel = found.id;
  store.thread = thread && found.id === channel ? thread : null;
  store.unread.delete(found.id);
  document.body.classList.remove("menu-open");
  if (!store.rooms.has(found.id)) await page.run(loadRoom(found.id));
  openAnswer();
  followUp(page);
  draw();
}

/** Listens before it asks: what changes after an answer is told by the feed. */
async function become(user) {
  await listen(user);
  await loadWorkspace(user);
  if (store.me !== user) return become(store.me);
  store.rooms.clear();
  loadGuide().then(soon, () => null);
  if (store.workspace.modal) showModal(store.workspace.modal, page);
  else hideModal();
}

/** Resolves when the server has begun to tell what changes for `user`. */
function listen(user) {
  feed?.close();
  const own = new WebSocket(`${location.origin.replace("http", "ws")}/page/feed?user=${user}`);
  feed = own;
  own.onmessage = (event) => hear(JSON.parse(event.data));
  return new Promise((resolve, reject) => {
    own.onclose = () => reject(new Error("The playground does not answer."));
    own.onopen = () => {
      own.onclose = () => feed === own && reloadIn(1000);
      resolve();
    };
  });
}

async function hear(change) {
  const {kind, channel, body} = change;
  if (kind === "reload") return reloadIn(0);
  if (kind === "notice") return toast(body.text);
  take(change);
  if (kind === "room") await page.run(loadWorkspace());
  if (isChanging()) return;
  if (kind === "view") return showModal(body, page);
  if (kind === "view_closed") return hideModal();
  if (kind === "message" && channel !== store.channel && body.user !== store.me) store.unread.add(channel);
  if (kind === "message" && body.bot_id && body.parent_user_id === store.me) answered = {channel, thread: body.thread_ts};
  openAnswer();
  followUp(page);
  soon();
}

/** The answer to my question opens beside it, when there is room and no other thread is open: at once, or when I get there. */
function openAnswer() {
  const loaded = answered?.channel === store.channel ? store.rooms.get(store.channel) : null;
  if (!loaded) return;
  const root = loaded.messages.get(answered.thread);
  answered = null;
  if (root && (root.reply_count ?? 0) <= 1 && !store.thread && innerWidth > 900) page.openThread(root.ts);
}

/** Draws once for all the changes of a moment; what is being pressed stays until the button is let go, or is for long. */
function soon() {
  if (pending) return;
  pending = requestAnimationFrame(() => {
    pending = 0;
    if (performance.now() - pressed < PRESS_MS) soon();
    else draw();
  });
}

function draw() {
  const shown = room(store.channel);
  if (!shown) return;
  drawSidebar(at("sidebar"), page);
  header(shown);
  const home = shown.is_im && store.tab === "home";
  at("home").hidden = !home;
  const empty = !home && !topLevel(shown.id).length;
  at("messages").hidden = home || empty;
  at("welcome").hidden = !empty;
  at("composer-main").hidden = home;
  if (home) drawHome(at("home"), store.workspace.home, page);
  drawMessages(at("messages"), shown.id, topLevel(shown.id), page);
  if (empty) drawWelcome(at("welcome"), shown, page);
  drawPrompts(at("prompts"), shown, page);
  thread(shown);
  composers(shown);
}

function thread(shown) {
  const loaded = store.rooms.get(shown.id);
  at("thread").hidden = !store.thread || !loaded;
  document.body.classList.toggle("thread-open", !at("thread").hidden);
  if (at("thread").hidden) return;
  const there = loaded.messages.has(store.thread);
  const messages = inThread(shown.id, store.thread);
  at("thread-title").textContent = loaded.titles.get(store.thread) ?? "Thread";
  at("composer-thread").hidden = at("thread-messages").hidden = !there;
  drawMessages(at("thread-messages"), shown.id, messages, page, {thread: true});
  at("thread-empty").hidden = messages.length > 1;
  at("thread-empty").textContent = emptyThread(!there);
}

function header(shown) {
  const {bot} = store.workspace;
  const title = shown.is_im ? bot.name : shown.is_mpim ? groupName(shown) : shown.name;
  at("channel-name").replaceChildren(shown.is_im || shown.is_mpim ? title : `${shown.is_private ? "🔒" : "#"} ${title}`);
  at("channel-topic").textContent = shown.is_im ? "App" : shown.topic;
  at("thread-channel").textContent = shown.is_im || shown.is_mpim ? title : `#${shown.name}`;
  at("try").hidden = !shown.has_bot || !store.guide?.questions.length || store.tab === "home";
  at("member-count").textContent = shown.is_im ? "" : `${shown.members.length} members`;
  document.title = `${title} · ${store.workspace.name} playground`;
  at("tabs").hidden = !shown.is_im;
  if (at("tabs").drawn === store.tab) return;
  at("tabs").drawn = store.tab;
  const tab = (id, label) =>
    h("button.tab", {type: "button", role: "tab", "aria-selected": String(store.tab === id), onclick: () => page.openApp(id)}, label);
  at("tabs").replaceChildren(tab("home", "Home"), tab("messages", "Messages"));
}

function composers(shown) {
  const title = shown.is_im ? store.workspace.bot.name : shown.is_mpim ? groupName(shown) : `#${shown.name}`;
  const key = `${store.me}/${shown.id}`;
  if (fields.channel !== key) {
    const isFirst = !fields.main;
    const more = shown.is_im || shown.is_mpim ? [] : [{label: "Post as a workflow", run: () => workflowSheet(shown.id, page)}];
    fields.main = composer(at("composer-main"), {label: `Message ${title}`, placeholder: `Message ${title}`, hint: "Enter sends · Shift+Enter new line · @ mention · / command", send: sender(shown.id, null), more});
    fields.channel = key;
    fields.of = null;
    if (isFirst) fields.main.focus();
  }
  if (store.thread && fields.of !== store.thread) {
    fields.thread = composer(at("composer-thread"), {label: "Reply in thread", placeholder: "Reply…", hint: "Enter sends · Esc closes the thread", send: sender(shown.id, store.thread), escape: closeThread, also: shown.is_im ? null : `Also send to ${title}`});
    fields.of = store.thread;
  }
}

/** Sends as who we are now, to this place, wherever the page has gone when it comes to that. */
function sender(channel, thread) {
  const from = {user: store.me, channel};
  return async (text, {files, broadcast}) => {
    const command = /^(\/[a-z0-9_-]+)(?:\s+([\s\S]*))?$/.exec(text);
    if (command && thread) {
      toast(`${command[1]} is not supported in threads. Sorry!`);
      return false;
    }
    const done = command
      ? act("command", {...from, name: command[1], text: command[2] ?? ""})
      : act("say", {...from, text, thread_ts: thread, files, broadcast});
    if (command) return page.run(done), true;
    return (await page.run(done)) !== null;
  };
}

async function closeThread() {
  const ts = store.thread;
  await go(store.me, store.channel, null);
  at("messages").querySelector(`[data-ts="${ts}"]`)?.focus();
}

function toast(text) {
  const made = h("div.toast", {}, text);
  at("toasts").append(made);
  setTimeout(() => made.remove(), 6000);
}

at("thread-close").onclick = closeThread;
at("menu").onclick = () => at("menu").setAttribute("aria-expanded", String(document.body.classList.toggle("menu-open")));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !modalView() && !event.defaultPrevented && at("thread").contains(document.activeElement)) closeThread();
});
keepArrows(at("sidebar"));
arrows(at("messages"), ":scope > article");
arrows(at("thread-messages"), ":scope > article");
at("try").onclick = () => toggleMenu(at("try"), tryItems(room(store.channel), page));
document.addEventListener("pointerdown", () => (pressed = performance.now()), true);
for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, () => (pressed = -Infinity), true);
setInterval(soon, 5000); // statuses end by themselves
setInterval(() => store.guide && !store.guide.pages && loadGuide().then(soon, () => null), 4000); // pages are still being read
window.addEventListener("hashchange", () => follow());
follow();
