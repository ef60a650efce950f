// A list of messages: who, when, what, reactions, and the bar of things to do.
import {drawAttachments} from "./attachments.js";
import {drawBlocks} from "./blocks.js";
import {h} from "./dom.js";
import {emoji, glyph, QUICK} from "./emoji.js";
import {mrkdwn} from "./mrkdwn.js";
import {toggleMenu} from "./menu.js";
import {act, inThread, isBot, isBroadcast, me, names, person, status, store} from "./store.js";

const GROUP_S = 300; // messages of one person within five minutes share a heading

/** Draws `messages` into `list`. `page` has openThread(ts), edit(message), forward(message, channel), failed(error). */
export function drawMessages(list, channel, messages, page, {thread = false} = {}) {
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 60;
  const focused = list.contains(document.activeElement) ? document.activeElement.closest("[data-ts]")?.dataset.ts : null;
  const old = new Map([...list.children].map((one) => [one.drawn, one]));
  const items = [];
  let before = null;
  for (const message of messages) {
    const today = day(message.ts);
    if (!before || day(before.ts) !== today) items.push(old.get(today) ?? divider(today));
    const grouped = !!before && follows(before, message);
    const running = thread ? null : status(channel, message.ts);
    const replies = thread ? [] : inThread(channel, message.ts).map((one) => one.ts);
    const key = JSON.stringify([message, replies, grouped, running?.text, thread, store.me]);
    items.push(old.get(key) ?? article(message, {channel, grouped, running, thread, key, page}));
    if (thread && message.ts === store.thread && messages.length > 1) items.push(replyLine(messages.length - 1));
    before = message;
  }
  const running = thread && status(channel, store.thread);
  if (running) items.push(statusLine(running, "p.status.in-thread"));
  settle(list, items);
  if (focused && !list.contains(document.activeElement))
    list.querySelector(`[data-ts="${focused}"]`)?.focus({preventScroll: true});
  if (atEnd || list.dataset.room !== `${channel}/${thread ? store.thread : ""}`) list.scrollTop = list.scrollHeight;
  list.dataset.room = `${channel}/${thread ? store.thread : ""}`;
}

/** Makes `items` the children of `list`, leaving those alone that stay: a screen reader hears only what is new. */
function settle(list, items) {
  const staying = new Set(items);
  for (const one of [...list.children]) if (!staying.has(one)) one.remove();
  items.forEach((one, number) => {
    if (list.children[number] !== one) list.insertBefore(one, list.children[number] ?? null);
  });
}

function article(message, {channel, grouped, running, thread, key, page}) {
  const context = {names, act: (element, _block, value) => press(message, channel, element, value, page)};
  const made = h(`article.message${grouped ? ".grouped" : ""}${message.is_ephemeral ? ".ephemeral" : ""}`, {
    tabindex: "0",
    "data-ts": message.ts,
    "aria-label": `${authorName(message)}, ${time(message.ts)}`,
  });
  made.drawn = key;
  if (message.is_ephemeral) made.append(h("p.only-you", {}, "👁 Only visible to you"));
  if (isBroadcast(message)) made.append(broadcastLine(message, thread, page));
  made.append(
    grouped ? h("time.gutter", {}, time(message.ts)) : avatar(message),
    h("div.content", {}, grouped ? null : heading(message), body(message, context), reactions(message, channel, page),
      running ? statusLine(running) : null, thread ? null : summary(message, channel, page)),
    toolbar(message, channel, page, thread),
  );
  return made;
}

function body(message, context) {
  if (message.subtype === "tombstone") return h("p.tombstone", {}, "This message was deleted.");
  if (message.subtype === "channel_join") return h("p.tombstone", {}, mrkdwn(message.text, names));
  const drawn = h("div.body");
  const own = message.blocks?.length && message.bot_id;
  if (own) drawn.append(...drawBlocks(message.blocks, context));
  else if (message.text) drawn.append(h("div.text", {}, mrkdwn(message.text, names)));
  drawn.append(...drawAttachments(message, context));
  if (message.streaming_state === "in_progress") drawn.append(h("span.caret", {"aria-label": "still writing"}));
  if (message.edited) (drawn.lastElementChild ?? drawn).append(h("span.edited", {}, " (edited)"));
  return drawn;
}

function broadcastLine(message, thread, page) {
  if (thread) return h("p.only-you", {}, "Also sent to the channel");
  return h("p.only-you", {}, "Replied to ", h("button.plain", {type: "button", onclick: () => page.openThread(message.thread_ts)}, "a thread"),
    message.root?.text ? [": ", mrkdwn(message.root.text.slice(0, 120), names)] : null);
}

function heading(message) {
  return h("div.heading", {},
    h("b.author", {}, authorName(message)),
    message.bot_id ? h("span.badge", {}, isBot(message.user) ? "APP" : "WORKFLOW") : null,
    h("time", {datetime: new Date(message.ts * 1000).toISOString(), title: fullTime(message.ts)}, time(message.ts)));
}

export function authorName(message) {
  if (isBot(message.user)) return store.workspace.bot.name;
  return person(message.user)?.real_name ?? message.username ?? "Slackbot";
}

export function avatar(message) {
  const name = authorName(message);
  const bot = isBot(message.user);
  const initials = bot ? "F¹" : message.bot_id ? "⚙" : name.split(/\s+/).map((word) => word[0]).slice(0, 2).join("");
  const hue = [...name].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 8, 0);
  return h(`span.avatar.${bot ? "bot" : `hue-${hue}`}`, {"aria-hidden": "true"}, initials);
}

function reactions(message, channel, page) {
  if (!message.reactions?.length) return null;
  return h("div.reactions", {}, message.reactions.map((one) => {
    const mine = one.users.includes(store.me);
    const label = `${one.name}: ${one.users.map((id) => names.person(id)).join(", ")}`;
    const toggle = () => page.run(act("react", {channel, ts: message.ts, name: one.name, remove: mine}));
    return h("button.reaction", {type: "button", "aria-pressed": String(mine), "aria-label": label, title: label, onclick: toggle},
      emoji(one.name), ` ${one.count}`);
  }));
}

function summary(message, channel, page) {
  const replies = inThread(channel, message.ts).filter((one) => one.ts !== message.ts);
  if (!replies.length) return null;
  const count = `${replies.length} ${replies.length === 1 ? "reply" : "replies"}`;
  const authors = [...new Map(replies.map((one) => [one.user, one])).values()].slice(0, 4);
  return h("button.replies", {type: "button", onclick: () => page.openThread(message.ts)},
    authors.map(avatar), h("span.reply-count", {}, count), h("span.quiet", {}, `Last reply ${time(replies.at(-1).ts)}`));
}

function statusLine(running, spec = "p.status") {
  return h(spec, {role: "status"}, h("span.dots", {"aria-hidden": "true"}, "•••"), h("b", {}, store.workspace.bot.name), ` ${running.text}`);
}

function replyLine(count) {
  return h("div.divider.left", {role: "separator"}, h("span", {}, `${count} ${count === 1 ? "reply" : "replies"}`));
}

function divider(words) {
  const made = h("div.divider", {role: "separator"}, h("span", {}, words));
  made.drawn = words;
  return made;
}

const BARE = new Set(["tombstone", "channel_join"]);

function toolbar(message, channel, page, thread) {
  if (message.is_ephemeral || BARE.has(message.subtype)) return "";
  const button = (label, mark, onclick) => h("button.tool", {type: "button", "aria-label": label, title: label, onclick}, mark);
  const react = QUICK.map((name) =>
    button(`React with ${name.replaceAll("_", " ")}`, glyph(name), () => page.run(act("react", {channel, ts: message.ts, name}))));
  const own = message.user === store.me;
  return h("div.toolbar", {role: "toolbar", "aria-label": "Message"}, ...react,
    thread ? null : button("Reply in thread", "💬", () => page.openThread(isBroadcast(message) ? message.thread_ts : message.ts, {focus: true})),
    button("Forward message", "↪", () => page.forward(message, channel)),
    own ? button("Edit message", "✏️", () => page.edit(message)) : null,
    own ? button("Delete message", "🗑", () => page.remove(message)) : null,
    more(message, channel, page));
}

function more(message, channel, page) {
  const items = store.workspace.shortcuts.map((one) => ({
    label: one.name,
    note: store.workspace.bot.name,
    run: () => page.run(act("shortcut", {channel, ts: message.ts, callback_id: one.callback_id})),
  }));
  items.push({label: "Copy link", run: () => page.copyLink(message, channel)});
  return h("button.tool", {type: "button", "aria-label": "More actions", title: "More actions", "aria-haspopup": "menu", "aria-expanded": "false",
    onclick: (event) => toggleMenu(event.currentTarget, items)}, "⋮");
}

function press(message, channel, element, value, page) {
  page.run(act("click", {channel, ts: message.ts, action_id: element.action_id, value}));
}

function follows(before, message) {
  const plain = !before.subtype && !message.subtype && !before.is_ephemeral && !message.is_ephemeral && !before.reply_count;
  return plain && before.user === message.user && message.ts - before.ts < GROUP_S;
}

function format(ts, options) {
  const {locale, tz} = me();
  return new Intl.DateTimeFormat(locale, {timeZone: tz, ...options}).format(new Date(ts * 1000));
}

export const time = (ts) => format(ts, {timeStyle: "short"});
const fullTime = (ts) => format(ts, {dateStyle: "full", timeStyle: "medium"});
const dayOf = (ts) => format(ts, {dateStyle: "short"});

function day(ts) {
  const now = Date.now() / 1000;
  if (dayOf(ts) === dayOf(now)) return "Today";
  if (dayOf(ts) === dayOf(now - 86400)) return "Yesterday";
  return format(ts, {weekday: "long", day: "numeric", month: "long"});
}
