// Block Kit, drawn. `act(element, block, value)` is called when a person uses a control.
import {h, link} from "./dom.js";
import {emoji} from "./emoji.js";
import {field, isField} from "./fields.js";
import {markdown} from "./markdown.js";
import {mention, mrkdwn} from "./mrkdwn.js";

const TASK_MARKS = {pending: "○", in_progress: "◐", complete: "✓", error: "✕"};

export function drawBlocks(blocks, context) {
  return blocks.map((block) => h(`div.block.block-${block.type}`, {}, drawBlock(block, context)));
}

function drawBlock(block, context) {
  const draw = DRAW[block.type];
  return draw ? draw(block, context) : h("em.unknown", {}, `(a ${block.type} block)`);
}

const DRAW = {
  section(block, context) {
    const body = h("div.section-body");
    if (block.text) body.append(h("div", {}, textObject(block.text, context)));
    if (block.fields)
      body.append(h("div.fields", {}, block.fields.map((field) => h("div", {}, textObject(field, context)))));
    return [body, block.accessory && h("div.accessory", {}, control(block.accessory, block, context))];
  },
  context: (block, context) =>
    block.elements.map((one) => (one.type === "image" ? image(one, "small") : h("span", {}, textObject(one, context)))),
  header: (block) => h("p.block-title", {role: "heading", "aria-level": 3}, plain(block.text)),
  divider: () => h("hr"),
  markdown: (block) => markdown(block.text),
  image: (block) => image(block, "large"),
  actions: (block, context) => block.elements.map((one) => control(one, block, context)),
  context_actions: (block, context) => block.elements.map((one) => control(one, block, context)),
  rich_text: (block, context) => block.elements.map((one) => richText(one, context)),
  table: (block, context) => table(block, context),
  input: (block, context) => input(block, context),
  task_card: (block) => [
    h("span.task-mark", {"aria-hidden": "true"}, TASK_MARKS[block.status] ?? "○"),
    h("span", {}, block.title),
    h("span.visually-hidden", {}, ` (${block.status.replace("_", " ")})`),
  ],
};

export function textObject(text, context) {
  return text.type === "mrkdwn" ? mrkdwn(text.text, context.names) : plain(text);
}

function plain(text) {
  const made = document.createDocumentFragment();
  for (const part of text.text.split(/(:[a-z0-9_+-]+:)/))
    made.append(/^:.+:$/.test(part) && text.emoji !== false ? emoji(part.slice(1, -1)) : part);
  return made;
}

/** The playground fetches nothing from elsewhere: a picture is shown by what it says. */
function image(block, size) {
  const label = block.title?.text ?? block.alt_text;
  return h(`span.image.${size}`, {role: "img", "aria-label": block.alt_text}, size === "large" ? `🖼 ${label}` : "🖼");
}

function control(element, block, context) {
  const draw = CONTROL[element.type] ?? (isField(element) ? chooser : null);
  return draw ? draw(element, block, context) : h("em.unknown", {}, `(${element.type})`);
}

const CONTROL = {
  image: (element) => image(element, "small"),
  button(element, block, context) {
    const press = () => {
      if (element.confirm && !window.confirm(`${element.confirm.title.text}\n\n${element.confirm.text.text}`)) return;
      if (element.url) window.open(element.url, "_blank", "noopener,noreferrer");
      context.act(element, block);
    };
    const spec = `button.btn${element.style ? `.${element.style}` : ""}`;
    return h(spec, {type: "button", "aria-label": element.accessibility_label, onclick: press}, plain(element.text));
  },
  feedback_buttons(element, block, context) {
    const one = (button, mark) => {
      const label = button.accessibility_label ?? button.text.text;
      const press = (event) => {
        for (const other of event.currentTarget.parentNode.children) other.setAttribute("aria-pressed", "false");
        event.currentTarget.setAttribute("aria-pressed", "true");
        context.act(element, block, button.value);
      };
      return h("button.vote", {type: "button", "aria-label": label, title: label, "aria-pressed": "false", onclick: press}, mark);
    };
    return h("span.votes", {role: "group", "aria-label": "Feedback"}, one(element.positive_button, "👍"), one(element.negative_button, "👎"));
  },
  icon_button: (element, block, context) =>
    h("button.vote", {type: "button", "aria-label": element.text.text, onclick: () => context.act(element, block)}, "🗑"),
  overflow,
};

/** A menu of things to do: choosing one acts, and the menu is as before. */
function overflow(element, block, context) {
  const chosen = (event) => {
    const {value} = event.target;
    event.target.value = "";
    if (value) context.act(element, block, value);
  };
  const options = element.options.map((one) => h("option", {value: one.value}, one.text.text));
  return h("select.btn", {"aria-label": "More", onchange: chosen}, h("option", {value: ""}, "More"), options);
}

let drawn = 0;

/** A menu or boxes beside a text or in a row: a choice acts at once, and stays. */
function chooser(element, block, context) {
  const made = field(element, block, {
    kept: context.kept?.[block.block_id]?.[element.action_id],
    changed: (value) => context.act(element, block, value),
    label: element.placeholder?.text ?? block.text?.text ?? "Choose",
    id: `choice-${(drawn += 1)}`,
    plain: (text) => textObject(text, context),
  });
  made.classList.add("inline");
  return made;
}

function input(block, context) {
  const {element} = block;
  const id = `input-${block.block_id}`;
  const made = field(element, block, {
    kept: context.kept?.[block.block_id]?.[element.action_id],
    changed: block.dispatch_action ? (value) => context.act(element, block, value) : null,
    id,
    plain: (text) => textObject(text, context),
  });
  const grouped = made.matches(".boxes");
  const optional = block.optional && !/\(optional\)/i.test(block.label.text);
  made.dataset.required = String(!block.optional);
  made.setAttribute("aria-describedby", `${id}-error`);
  if (grouped) made.setAttribute("aria-labelledby", `${id}-label`);
  return [
    h(grouped ? "p.label" : "label", {for: grouped ? null : id, id: `${id}-label`}, plain(block.label), optional ? h("span.optional", {}, " (optional)") : null),
    made,
    block.hint ? h("p.hint", {}, plain(block.hint)) : null,
    h("p.error", {id: `${id}-error`, role: "alert"}),
  ];
}

function table(block, context) {
  const rows = block.rows.map((row, number) =>
    h("tr", {}, row.map((cell, column) => {
      const align = block.column_settings?.[column]?.align;
      const spec = (number ? "td" : "th") + (align ? `.${align}` : "");
      return h(spec, number ? {} : {scope: "col"}, tableCell(cell, context));
    })));
  return h("div.scroll", {tabindex: "0"}, h("table", {}, h("thead", {}, rows[0]), h("tbody", {}, rows.slice(1))));
}

function tableCell(cell, context) {
  if (cell.type === "rich_text") return cell.elements.map((one) => richText(one, context));
  return cell.text ?? String(cell.value ?? "");
}

function richText(element, context) {
  const inner = () => (element.elements ?? []).map((one) => richPiece(one, context));
  switch (element.type) {
    case "rich_text_quote": return h("blockquote", {}, inner());
    case "rich_text_preformatted": return h(`pre${bar(element)}`, {tabindex: "0"}, h("code", {}, inner()));
    case "rich_text_list": {
      const items = element.elements.map((one) => h("li", {}, richText({...one, type: "inner"}, context)));
      const ordered = element.style === "ordered";
      const start = ordered && element.offset ? {start: element.offset + 1} : {};
      return h(`div.listing${bar(element)}`, {}, h(`${ordered ? "ol" : "ul"}.indent-${element.indent ?? 0}`, start, items));
    }
    default: return h(element.type === "inner" ? "span" : "div.rich", {}, inner());
  }
}

/** A list or code with a border belongs to the quote before it. */
const bar = (element) => (element.border ? ".beside-bar" : "");

function richPiece(piece, context) {
  let node;
  switch (piece.type) {
    case "text": node = piece.text; break;
    case "link": node = link(piece.url, piece.text || piece.url); break;
    case "user": node = mention(piece.user_id, context.names); break;
    case "channel": node = h("span.mention", {}, `#${context.names.channel(piece.channel_id) ?? piece.channel_id}`); break;
    case "broadcast": node = h("span.mention.loud", {}, `@${piece.range}`); break;
    case "emoji": node = emoji(piece.name); break;
    default: node = `(${piece.type})`;
  }
  for (const [style, tag] of [["bold", "strong"], ["italic", "em"], ["strike", "s"], ["code", "code"]])
    if (piece.style?.[style]) node = h(tag, {}, node);
  return node;
}
