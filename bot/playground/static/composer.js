// The message field: Enter sends, @ and # complete, / shows the commands.
import {h} from "./dom.js";
import {toggleMenu} from "./menu.js";
import {store} from "./store.js";
import {read, uploads} from "./uploads.js";

let made = 0;

/**
 * `send(text, {files, broadcast})` returns whether it was sent; what was not is put back. `escape()` is called for an Esc that closes
 * nothing here. `more`: entries of the + menu besides files; `also`: the words of a box to tick, in a thread.
 */
export function composer(host, {label, placeholder, hint, send, escape, more = [], also}) {
  const id = `composer-field-${(made += 1)}`;
  const options = h("ul.options", {role: "listbox", id: `${id}-options`, "aria-label": "Suggestions", hidden: true});
  const field = h("textarea", {
    id, rows: "1", placeholder, "aria-label": label, role: "combobox", "aria-autocomplete": "list",
    "aria-expanded": "false", "aria-controls": `${id}-options`, autocomplete: "off",
  });
  const button = h("button.send", {type: "submit", "aria-label": "Send", title: "Send (Enter)"}, "➤");
  const files = uploads(() => field.focus());
  const attach = h("button.attach", {type: "button", "aria-label": "Attach", title: "Attach", ...(more.length ? {"aria-haspopup": "menu", "aria-expanded": "false"} : {}),
    onclick: () => (more.length ? toggleMenu(attach, [{label: "Attach a file", run: files.pick}, ...more]) : files.pick())}, "+");
  const tick = h("input", {type: "checkbox"});
  const form = h("form.composer", {}, options, field, files.row, files.input, also ? h("label.also", {}, tick, h("span", {}, also)) : null,
    h("div.composer-foot", {}, attach, h("span.quiet", {}, hint), button));
  dropped(form, files.add);
  host.replaceChildren(form);
  const list = suggestions(field, options);

  let sent = Promise.resolve();
  // The field is empty at once: what is typed before the server confirms is the next message, sent after this one.
  const submit = () => {
    const text = field.value.trim();
    if (!text && !files.any()) return;
    const entered = {value: field.value, chosen: files.take(), ticked: tick.checked};
    fill({value: "", ticked: false});
    list.close();
    const done = async () => send(text, {files: await read(entered.chosen), broadcast: entered.ticked});
    sent = sent.then(done).catch(() => false).then((isSent) => isSent || putBack(entered));
  };
  const fill = ({value, ticked}) => {
    field.value = value;
    tick.checked = ticked;
    fit(field);
  };
  const putBack = (entered) => {
    files.putBack(entered.chosen);
    if (!field.value) fill(entered);
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  field.addEventListener("keydown", (event) => {
    if (list.key(event)) return;
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      submit();
    } else if (event.key === "Escape") escape?.();
  });
  field.addEventListener("input", () => {
    fit(field);
    list.update();
  });
  field.addEventListener("blur", () => setTimeout(() => document.activeElement === field || list.close(), 150));
  return field;
}

/** Files that are dropped on the field, or pasted into it. */
function dropped(form, add) {
  form.addEventListener("dragover", (event) => event.preventDefault());
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) add(event.dataTransfer.files);
  });
  form.addEventListener("paste", (event) => {
    if (!event.clipboardData.files.length) return;
    event.preventDefault();
    add(event.clipboardData.files);
  });
}

function fit(field) {
  field.rows = Math.min(8, field.value.split("\n").length);
}

function suggestions(field, options) {
  let shown = [];
  let at = 0;

  const close = () => {
    shown = [];
    options.hidden = true;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  const mark = () => {
    [...options.children].forEach((one, number) => one.setAttribute("aria-selected", String(number === at)));
    field.setAttribute("aria-activedescendant", options.children[at]?.id ?? "");
    options.children[at]?.scrollIntoView({block: "nearest"});
  };
  const choose = (number) => {
    const {insert, from} = shown[number];
    const end = field.selectionStart;
    field.setRangeText(`${insert} `, from, end, "end");
    close();
    field.focus();
  };
  const update = () => {
    shown = matching(field.value.slice(0, field.selectionStart));
    if (!shown.length) return close();
    at = 0;
    options.replaceChildren(...shown.map((one, number) =>
      h("li", {role: "option", id: `${options.id}-${number}`, onmousedown: (event) => (event.preventDefault(), choose(number))},
        h("b", {}, one.title), one.note ? h("span.quiet", {}, ` ${one.note}`) : null)));
    options.hidden = false;
    field.setAttribute("aria-expanded", "true");
    mark();
  };
  const key = (event) => {
    if (!shown.length) return false;
    if (event.key === "ArrowDown") at = (at + 1) % shown.length;
    else if (event.key === "ArrowUp") at = (at - 1 + shown.length) % shown.length;
    else if (event.key === "Escape") close();
    else if (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey && !shown[at].hint)) choose(at);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    if (shown.length) mark();
    return true;
  };
  return {update, close, key};
}

function matching(before) {
  const {bot, people, channels, commands} = store.workspace;
  const typed = /(?:^|\s)([@#])([\p{L}\p{N}_.-]*)$/u.exec(before);
  if (typed) {
    const from = before.length - typed[2].length - 1;
    const wanted = typed[2].toLowerCase();
    const known = typed[1] === "#"
      ? channels.filter((one) => !one.is_im).map((one) => ({insert: `#${one.name}`, title: `#${one.name}`, note: one.topic}))
      : [bot, ...people].map((one) => ({insert: `@${one.name}`, title: one.real_name, note: one === bot ? `@${one.name} · app` : `@${one.name}`}));
    return known.filter((one) => `${one.insert} ${one.title}`.toLowerCase().includes(wanted)).slice(0, 8).map((one) => ({...one, from}));
  }
  if (!/^\/\S*$/.test(before)) return hints(before, commands);
  const all = [...commands, {name: "/invite", hint: "@someone", description: "Add someone to this channel"}];
  return all.filter((one) => one.name.startsWith(before) && one.name !== before)
    .map((one) => ({insert: one.name, title: `${one.name} ${one.hint}`, note: one.description, from: 0}));
}

/** After a command's name its arguments are shown; Enter sends then, Tab completes. */
function hints(before, commands) {
  const typed = /^(\/\S+) (\S*)$/.exec(before);
  const command = typed && commands.find((one) => one.name === typed[1]);
  if (!command) return [];
  const words = command.hint.split("|").map((word) => word.trim().split(" ")[0]).filter((word) => /^[a-z-]+$/.test(word));
  return words.filter((word) => word.startsWith(typed[2]) && word !== typed[2])
    .map((word) => ({insert: word, title: `${command.name} ${word}`, note: "Tab completes", from: typed[1].length + 1, hint: true}));
}
