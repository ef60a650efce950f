// What a newcomer reads: who writes the answers, five questions to try, and what to do where there is nothing yet.
import {h} from "./dom.js";
import {act, inThread, placeName, room, store, topLevel} from "./store.js";

const NOTES = {follow_up: "a follow-up, asked in its thread", unanswered: "no page tells this"};
let waiting = null;

/** One quiet line: quotes, or which model writes; and how to switch one on. */
export function modeLine() {
  const {guide} = store;
  if (!guide) return null;
  if (guide.model) return h("p.mode", {}, "Answers are written by ", h("b", {}, guide.model), " from the pages.");
  return h("p.mode", {}, "Answers are quotes from the pages. To have a model write them, set ",
    h("code", {}, "ANTHROPIC_API_KEY"), " or ", h("code", {}, "OLLAMA_BASE_URL"), " and start again.");
}

/** An empty channel. */
export function drawWelcome(host, shown, page) {
  const {bot} = store.workspace;
  const {guide} = store;
  const key = JSON.stringify([shown, guide, store.me]);
  if (host.drawn === key) return; // a focused button stays
  host.drawn = key;
  const words = shown.is_im
    ? `Ask ${bot.name} anything; it answers in a thread.`
    : shown.has_bot
      ? `Mention @${bot.name} with a question, and it answers in a thread.`
      : `@${bot.name} is not in this channel. Type /invite @${bot.name} to add it.`;
  const title = shown.is_im ? bot.name : placeName(shown);
  host.replaceChildren(h("div.welcome", {}, h("p.big", {}, title), h("p", {}, words), pagesLine(guide),
    shown.has_bot && guide?.questions.length ? h("div.tries", {role: "group", "aria-label": "Questions to try"},
      h("p.tries-title", {}, "Try one of these"), guide.questions.map((_, number) => tryButton(number, shown, page))) : null,
    modeLine()));
}

function pagesLine(guide) {
  if (guide?.pages !== 0) return null;
  return h("p", {role: "status"}, "No pages are indexed yet. When the first ones are read, questions to try appear here; with an empty folder, stop the playground and start it with pages: ", h("code", {}, "make run KB=some/folder"), ".");
}

function tryButton(number, shown, page) {
  const {text, kind} = store.guide.questions[number];
  return h(`button.btn.try.${kind}`, {type: "button", onclick: () => tryQuestion(number, shown, page)},
    h("span", {}, text), NOTES[kind] ? h("span.quiet", {}, ` ${NOTES[kind]}`) : null);
}

/** The same questions as entries of a menu. */
export function tryItems(shown, page) {
  return (store.guide?.questions ?? []).map(({text, kind}, number) => ({label: text, note: NOTES[kind], run: () => tryQuestion(number, shown, page)}));
}

const asked = (text, shown) => (shown.is_im ? text : `@${store.workspace.bot.name} ${text}`);

/** Asks in the channel; a follow-up in the thread of the question before it, which is asked first where it was not. */
async function tryQuestion(number, shown, page) {
  const {text, kind} = store.guide.questions[number];
  if (kind !== "follow_up") return say(asked(text, shown), shown, page);
  const before = store.guide.questions[number - 1].text;
  const root = topLevel(shown.id).filter((one) => one.user === store.me && one.text.endsWith(before)).at(-1);
  if (root) {
    page.openThread(root.ts);
    return say(text, shown, page, root.ts);
  }
  const sent = await say(asked(before, shown), shown, page);
  if (!sent) return;
  waiting = {user: store.me, channel: shown.id, ts: sent.ts, text};
  followUp(page); // the feed may have told the answer before the server confirmed the question
}

/** Asks the follow-up that waits, once the question before it is answered. */
export function followUp(page) {
  if (waiting?.user !== store.me) return;
  const {channel, ts, text} = waiting;
  if (!inThread(channel, ts).some((message) => message.bot_id && message.streaming_state !== "in_progress")) return;
  waiting = null;
  say(text, room(channel), page, ts);
}

function say(text, shown, page, thread) {
  return page.run(act("say", {channel: shown.id, text, thread_ts: thread ?? null}));
}

/** What the app suggests in its pane: a press sends. */
export function drawPrompts(host, shown, page) {
  const given = shown.is_im && store.tab === "messages" ? store.rooms.get(shown.id)?.suggestions.get("") : null;
  const key = JSON.stringify([shown.id, given]);
  host.hidden = !given?.prompts.length;
  if (host.drawn === key) return;
  host.drawn = key;
  if (!given) return host.replaceChildren();
  host.replaceChildren(given.title ? h("p.quiet", {}, given.title) : "",
    h("div.prompt-row", {}, given.prompts.map((one) =>
      h("button.btn", {type: "button", title: one.message, onclick: () => say(one.message, shown, page)}, one.title))));
}

/** What a thread without replies says. */
export function emptyThread(gone) {
  return gone
    ? "This thread is not here any more. Close it, and pick another message."
    : `No replies yet. Mention @${store.workspace.bot.name} here, or ask on where it has answered.`;
}
