// Fields and menus of an app's blocks. Whatever holds a value has `data-block`, `data-action` and a `held()`.
import {h} from "./dom.js";
import {placeName, store} from "./store.js";

const PEOPLE = /^(multi_)?users_select$/;
const PLACES = /^(multi_)?(channels|conversations)_select$/;
const SEVERAL = /^(multi_|checkboxes)/;

export const isField = (element) => /select$|^radio_buttons$|^checkboxes$|_input$|picker$/.test(element.type);

/** The field of an element. `kept`: what was entered before the view was drawn anew. `changed` is called with the value. */
export function field(element, block, {kept, changed, label, id, plain}) {
  const made = draw(element, {id, label, plain, initial: kept === undefined ? initial(element) : kept});
  made.dataset.block = block.block_id;
  made.dataset.action = element.action_id;
  if (!made.matches(".boxes")) made.setAttribute("name", block.block_id);
  if (changed) made.addEventListener("change", () => changed(made.held()));
  return made;
}

/** block_id -> action_id -> what each field inside `host` holds. */
export function values(host) {
  const found = {};
  for (const one of host.querySelectorAll("[data-action]")) (found[one.dataset.block] ??= {})[one.dataset.action] = one.held();
  return found;
}

export function isEmpty(held) {
  return held === null || held === undefined || (typeof held === "string" ? !held.trim() : Array.isArray(held) && !held.length);
}

function draw(element, given) {
  if (element.type === "radio_buttons" || SEVERAL.test(element.type)) return boxes(element, given);
  if (/select$/.test(element.type)) return menu(element, given);
  return typed(element, given);
}

function typed(element, {id, label, initial: value}) {
  const type = {datepicker: "date", timepicker: "time", number_input: "number", email_text_input: "email", url_text_input: "url"}[element.type] ?? "text";
  const limits = {maxlength: element.max_length, minlength: element.min_length, placeholder: element.placeholder?.text};
  const made = element.multiline ? h("textarea.field", {id, ...limits}) : h("input.field", {id, type, ...limits});
  if (label) made.setAttribute("aria-label", label);
  made.value = value ?? "";
  made.held = () => made.value || null;
  return made;
}

function menu(element, {id, label, initial: value}) {
  const option = (one) => h("option", {value: one.value, selected: one.value === value}, one.text.text);
  const groups = (element.option_groups ?? []).map((one) => h("optgroup", {label: one.label.text}, one.options.map(option)));
  const made = h("select.field", {id, "aria-label": label}, h("option", {value: ""}, element.placeholder?.text ?? "Choose"), choices(element).map(option), groups);
  made.held = () => made.value || null;
  return made;
}

/** Several choices, or one of a few: boxes to tick, which a keyboard and a screen reader know. */
function boxes(element, {id, label, plain, initial: value}) {
  const type = SEVERAL.test(element.type) ? "checkbox" : "radio";
  const chosen = new Set([value ?? []].flat());
  const grouped = (element.option_groups ?? []).flatMap((one) => one.options);
  const made = h(`div.boxes${element.type.startsWith("multi_") ? ".many" : ""}`, {id, role: type === "radio" ? "radiogroup" : "group", "aria-label": label, tabindex: "-1"},
    [...choices(element), ...grouped].map((one) => h("label.box", {},
      h("input", {type, name: `${id}-choice`, value: one.value, checked: chosen.has(one.value)}),
      h("span", {}, plain(one.text), one.description ? h("span.quiet", {}, " ", plain(one.description)) : null))));
  made.held = () => {
    const ticked = [...made.querySelectorAll("input:checked")].map((one) => one.value);
    return type === "radio" ? (ticked[0] ?? null) : ticked;
  };
  made.addEventListener("change", () => {
    const most = element.max_selected_items ?? Infinity;
    const full = made.querySelectorAll("input:checked").length >= most;
    for (const one of made.querySelectorAll("input")) one.disabled = full && type === "checkbox" && !one.checked;
  });
  return made;
}

function choices(element) {
  const told = (value, text) => ({value, text: {type: "plain_text", text}});
  if (PEOPLE.test(element.type)) return store.workspace.people.map((one) => told(one.id, one.real_name));
  if (PLACES.test(element.type)) return store.workspace.channels.map((one) => told(one.id, placeName(one)));
  return element.options ?? [];
}

function initial(element) {
  const one = element.initial_option?.value ?? element.initial_user ?? element.initial_channel ?? element.initial_conversation;
  const several = element.initial_options?.map((option) => option.value) ?? element.initial_users ?? element.initial_channels ?? element.initial_conversations;
  return one ?? several ?? element.initial_value ?? element.initial_date ?? element.initial_time ?? null;
}
