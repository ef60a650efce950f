// Dialogs of the playground itself: forwarding a message, posting as a workflow, beginning a group message.
import {h} from "./dom.js";
import {drawShared} from "./attachments.js";
import {authorName} from "./messages.js";
import {act, names, placeName, store} from "./store.js";

const dialog = document.getElementById("sheet");
dialog.addEventListener("close", () => dialog.replaceChildren());

/** `send(form)` does it and returns what came of it; the dialog stays open where that is null. */
function show(title, label, parts, send) {
  const close = () => dialog.close();
  const form = h("form", {method: "dialog", novalidate: true},
    h("header.bar", {}, h("h2", {id: "sheet-title"}, title),
      h("button.icon", {type: "button", "aria-label": "Close", onclick: close}, "✕")),
    h("div.modal-body", {}, ...parts),
    h("footer.modal-foot", {}, h("button.btn", {type: "button", onclick: close}, "Cancel"),
      h("button.btn.primary", {type: "submit"}, label)));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if ((await send(form)) !== null) close();
  });
  dialog.replaceChildren(form);
  dialog.showModal();
  form.querySelector(".field, input")?.focus();
}

const labelled = (id, label, field) => h("div.block.block-input", {}, h("label", {for: id}, label), field);

function words(id, label, placeholder) {
  const field = h("textarea.field", {id, name: "text", placeholder, rows: "2"});
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    field.form.requestSubmit();
  });
  return labelled(id, label, field);
}

export function forwardSheet(message, channel, page) {
  const {bot, channels} = store.workspace;
  const places = channels.map((one) => h("option", {value: one.id, selected: one.id === channel}, placeName(one)));
  if (!channels.some((one) => one.is_im)) places.push(h("option", {value: "dm"}, bot.name));
  const shared = {author_name: authorName(message), text: message.text, files: message.files};
  show("Forward this message", "Forward", [
    labelled("forward-to", "To", h("select.field", {id: "forward-to", name: "to"}, places)),
    words("forward-text", "Add a message", `@${bot.name} do you know?`),
    drawShared(shared, {names}),
  ], async (form) => {
    const to = form.elements.to.value;
    const sent = await page.run(act("forward", {channel, ts: message.ts, to, text: form.elements.text.value}));
    if (sent && to !== channel) page.openPlace(to);
    return sent;
  });
}

export function workflowSheet(channel, page) {
  const {bot} = store.workspace;
  show("Post as a workflow", "Post", [
    h("p.quiet", {}, "A form of Workflow Builder posts what somebody filled in, as a bot of no user."),
    words("workflow-text", "The form's text", `@${bot.name} How many days of holiday do I get?`),
  ], (form) => page.run(act("workflow", {channel, text: form.elements.text.value})));
}

export function groupSheet(page) {
  const others = store.workspace.people.filter((one) => one.id !== store.me);
  show("New group message", "Open", [
    h("fieldset.boxes", {}, h("legend", {}, `With ${store.workspace.bot.name} and`),
      others.map((one) => h("label.box", {}, h("input", {type: "checkbox", name: "person", value: one.id}), ` ${one.real_name}`))),
  ], async (form) => {
    const people = [...form.querySelectorAll("[name=person]:checked")].map((one) => one.value);
    const opened = await page.run(act("group", {people}));
    if (opened) page.openPlace(opened.channel);
    return opened;
  });
}
