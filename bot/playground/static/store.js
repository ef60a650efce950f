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

const arriving = new Map(); // channel -> what the feed told since its messages were asked for

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

/** Without a known `user`: whoever sat here last, else the first of the workspace. */
export async function loadWorkspace(user) {
  store.workspace = await get("workspace", {user});
  if (!store.workspace.people.length) throw new Error("nobody lives in this workspace");
  if (!person(user)) return loadWorkspace(store.workspace.me || store.workspace.people[0].id);
  store.me = user;
  return store.workspace;
}

export async function loadGuide() {
  store.guide = await get("guide", {});
}

/** What the feed tells while the answer is on its way is newer than the answer may be: it is taken in after that. */
export async function loadRoom(channel) {
  arriving.set(channel, []);
  const found = await get("messages", {user: store.me, channel}).catch((error) => {
    arriving.delete(channel);
    throw error;
  });
  const messages = new Map(found.messages.map((message) => [message.ts, message]));
  for (const message of found.ephemerals) messages.set(message.ts, message);
  const statuses = new Map();
  for (const status of found.statuses) statuses.set(status.thread_ts, timed(status));
  const suggestions = new Map(found.suggestions.map((one) => [one.thread_ts, one]));
  const titles = new Map(found.titles.map((one) => [one.thread_ts, one.title]));
  const loaded = {messages, statuses, suggestions, titles};
  store.rooms.set(found.channel, loaded);
  const told = arriving.get(channel) ?? [];
  arriving.delete(channel);
  told.forEach(take);
  return loaded;
}

/** Takes in a change from the feed; true when something that is shown may look different now. */
export function take({kind, channel, body}) {
  arriving.get(channel)?.push({kind, channel, body});
  const loaded = store.rooms.get(channel);
  if (!loaded) return false;
  if (kind === "message" || kind === "ephemeral") loaded.messages.set(body.ts, body);
  else if (kind === "message_deleted") loaded.messages.delete(body.ts);
  else if (kind === "status" && body.text) loaded.statuses.set(body.thread_ts, timed(body));
  else if (kind === "status") loaded.statuses.delete(body.thread_ts);
  else if (kind === "suggestions") loaded.suggestions.set(body.thread_ts, body);
  else if (kind === "title") loaded.titles.set(body.thread_ts, body.title);
  else return false;
  return true;
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
