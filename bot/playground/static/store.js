// What this page knows: the workspace, the rooms' messages, and who we are. It talks to the server.

export const store = {
  me: null,
  workspace: null,
  channel: null,
  thread: null,
  tab: "messages",
  guide: null,
  rooms: new Map(),
  unread: new Set(),
};

const arriving = new Set(); // for each answer on its way: what the feed has told since it was asked for
let sitting = null; // who we are about to be, while their workspace is on its way
let newest = null; // the workspace that was asked for last

export const person = (id) => store.workspace.people.find((one) => one.id === id);
export const me = () => person(store.me);
export const room = (id) => store.workspace.channels.find((one) => one.id === id);
/** How a place is called in lists. */
export function placeName(one) {
  if (one.is_im) return store.workspace.bot.name;
  if (one.is_mpim) return groupName(one);
  return `${one.is_private ? "🔒 " : "#"}${one.name}`;
}

/** A group message goes by its other people. */
export function groupName(one) {
  const others = one.members.filter((id) => id !== store.me && !isBot(id));
  return others.map((id) => person(id)?.real_name.split(" ")[0] ?? id).join(", ");
}

export const isBot = (id) => id === store.workspace.bot.id;

export const names = {
  get me() {
    return store.me;
  },
  person: (id) => (isBot(id) ? store.workspace.bot.name : person(id)?.real_name) ?? (id === "USLACKBOT" ? "Slackbot" : undefined),
  channel: (id) => room(id)?.name,
};

export async function get(path, parameters) {
  const response = await fetch(`/page/${path}?${new URLSearchParams(parameters)}`);
  if (!response.ok) throw new Error((await response.json()).error);
  return response.json();
}

/** Does something as the person we are; a refusal is an Error with the server's words. */
export async function act(deed, body = {}) {
  const response = await fetch(`/page/${deed}`, {
    method: "POST",
    headers: {"Content-Type": "application/json"},
    body: JSON.stringify({user: store.me, ...body}),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? "That did not work.");
  return answer;
}

/** An answer, and what the feed told while it was on its way, which is newer than the answer may be. */
async function whileHearing(request) {
  const told = [];
  arriving.add(told);
  try {
    return {found: await request, told};
  } finally {
    arriving.delete(told);
  }
}

/** Without a known `user`: whoever sat here last, else the first of the workspace. Of several loads the last one counts. */
export function loadWorkspace(user = sitting) {
  sitting = user;
  const own = whileHearing(get("workspace", {user})).then(({found, told}) => {
    if (own !== newest) return newest;
    if (!found.people.length) throw new Error("nobody lives in this workspace");
    if (!found.people.some((one) => one.id === user)) return loadWorkspace(found.me || found.people[0].id);
    store.workspace = found;
    store.me = user;
    told.forEach(takeOwn);
    return found;
  });
  return (newest = own);
}

/** Whether the workspace of another person is on its way. */
export const isChanging = () => sitting !== store.me;

export async function loadGuide() {
  store.guide = await get("guide", {});
}

export async function loadRoom(channel) {
  const {found, told} = await whileHearing(get("messages", {user: store.me, channel}));
  const messages = new Map(found.messages.map((message) => [message.ts, message]));
  for (const message of found.ephemerals) messages.set(message.ts, message);
  const statuses = new Map();
  for (const status of found.statuses) statuses.set(status.thread_ts, timed(status));
  const suggestions = new Map(found.suggestions.map((one) => [one.thread_ts, one]));
  const titles = new Map(found.titles.map((one) => [one.thread_ts, one.title]));
  const loaded = {messages, statuses, suggestions, titles};
  store.rooms.set(found.channel, loaded);
  told.forEach(takeIn);
  return loaded;
}

/** Takes in a change from the feed. */
export function take(change) {
  for (const told of arriving) told.push(change);
  if (isChanging()) return;
  takeOwn(change);
  takeIn(change);
}

/** What concerns the person, not a room. */
function takeOwn({kind, body}) {
  if (kind === "home") store.workspace.home = body;
  else if (kind === "view") store.workspace.modal = body;
  else if (kind === "view_closed") store.workspace.modal = null;
}

function takeIn({kind, channel, body}) {
  const loaded = store.rooms.get(channel);
  if (!loaded) return;
  if (kind === "message" || kind === "ephemeral") loaded.messages.set(body.ts, body);
  else if (kind === "message_deleted") loaded.messages.delete(body.ts);
  else if (kind === "status" && body.text) loaded.statuses.set(body.thread_ts, timed(body));
  else if (kind === "status") loaded.statuses.delete(body.thread_ts);
  else if (kind === "suggestions") loaded.suggestions.set(body.thread_ts, body);
  else if (kind === "title") loaded.titles.set(body.thread_ts, body.title);
}

function timed(status) {
  return {...status, ends: Date.now() + status.seconds_left * 1000};
}

export function ordered(channel) {
  const loaded = store.rooms.get(channel);
  return loaded ? [...loaded.messages.values()].sort((a, b) => Number(a.ts) - Number(b.ts)) : [];
}

export const isBroadcast = (message) => message.subtype === "thread_broadcast";
export const topLevel = (channel) =>
  ordered(channel).filter((one) => !one.thread_ts || one.thread_ts === one.ts || isBroadcast(one));
export const inThread = (channel, ts) => ordered(channel).filter((one) => one.ts === ts || one.thread_ts === ts);

export function status(channel, ts) {
  const found = store.rooms.get(channel)?.statuses.get(ts);
  return found && found.ends > Date.now() ? found : null;
}
