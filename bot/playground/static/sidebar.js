// The sidebar: the workspace, its channels, the app, and who we are.
import {arrows, h} from "./dom.js";
import {groupName, store} from "./store.js";
import {modeLine} from "./welcome.js";

/** `page` has openChannel(id), openApp(), newGroup(), become(user). */
export function drawSidebar(host, page) {
  const key = JSON.stringify([store.workspace.channels, store.channel, store.me, [...store.unread], !!store.guide, store.guide?.model]);
  if (host.drawn === key) return; // an open menu or a focused entry stays as it is
  host.drawn = key;
  const focused = host.contains(document.activeElement) ? document.activeElement.dataset.entry : null;
  const {name, bot, people, channels} = store.workspace;
  const rooms = channels.filter((one) => !one.is_im && !one.is_mpim);
  const groups = channels.filter((one) => one.is_mpim);
  const dm = channels.find((one) => one.is_im);
  const unread = (id) => (store.unread.has(id) ? ".unread" : "");
  const entry = (id, mark, label, open, note) =>
    h("li", {}, h(`button.entry${id && id === store.channel ? ".current" : ""}${unread(id)}`,
      {type: "button", "data-entry": mark + (id ?? ""), "aria-current": id && id === store.channel ? "page" : null, onclick: open},
      h("span.mark", {"aria-hidden": "true"}, mark), h("span.entry-name", {}, label),
      note ? h("span.badge", {}, note) : null,
      store.unread.has(id) ? h("span.visually-hidden", {}, " (unread)") : null));
  const who = h("select", {id: "who", "data-entry": "who", onchange: (event) => page.become(event.target.value)},
    people.map((one) => h("option", {value: one.id, selected: one.id === store.me}, one.real_name + (one.role ? ` (${one.role})` : ""))));
  host.replaceChildren(
    h("div.workspace", {}, h("b", {}, name), h("span.quiet", {}, store.guide?.model ? "Playground" : "Playground: nothing here leaves this machine"), modeLine()),
    h("div.lists", {},
      h("h2", {id: "side-channels"}, "Channels"),
      h("ul", {"aria-labelledby": "side-channels"}, rooms.map((one) =>
        entry(one.id, one.is_private ? "🔒" : "#", h("span", {}, one.name, one.is_private ? h("span.visually-hidden", {}, " (private)") : null), () => page.openChannel(one.id)))),
      h("h2", {id: "side-groups"}, "Group messages"),
      h("ul", {"aria-labelledby": "side-groups"}, groups.map((one) => entry(one.id, "👥", groupName(one), () => page.openChannel(one.id))),
        entry(null, "+", "New group message", () => page.newGroup())),
      h("h2", {id: "side-apps"}, "Apps"),
      h("ul", {"aria-labelledby": "side-apps"}, entry(dm?.id ?? null, "F", bot.name, () => page.openApp(), "APP"))),
    h("div.who", {}, h("label", {for: "who"}, "You are"), who),
  );
  if (focused) host.querySelector(`[data-entry="${focused}"]`)?.focus();
}

export function keepArrows(host) {
  arrows(host, ".entry");
}
