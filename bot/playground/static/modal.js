// Modals and the App Home: an app's views.
import {drawBlocks} from "./blocks.js";
import {h} from "./dom.js";
import {isEmpty, values} from "./fields.js";
import {act, names} from "./store.js";

const dialog = document.getElementById("modal");
let shown = null;

export function showModal(view, page) {
  // As in Slack: what was entered stays where a field keeps its block and action.
  const kept = shown?.id === view.id ? values(dialog) : undefined;
  shown = view;
  const context = viewContext(view, page, dialog, kept);
  const close = () => page.run(act("close_view", {view_id: view.id}));
  const form = h("form", {method: "dialog", novalidate: true},
    h("header.bar", {}, h("h2", {id: "modal-title"}, view.title.text),
      h("button.icon", {type: "button", "aria-label": "Close", onclick: close}, "✕")),
    h("div.modal-body", {}, ...drawBlocks(view.blocks, context)),
    h("footer.modal-foot", {},
      h("button.btn", {type: "button", onclick: close}, view.close?.text ?? (view.submit ? "Cancel" : "Close")),
      view.submit ? h("button.btn.primary", {type: "submit"}, view.submit.text) : null));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(form, view, page);
  });
  dialog.replaceChildren(form);
  dialog.oncancel = (event) => {
    event.preventDefault();
    close();
  };
  if (!dialog.open) {
    dialog.showModal();
    form.querySelector(".modal-body [data-action]:not(.boxes), .modal-body .boxes input")?.focus();
  }
}

export function hideModal() {
  shown = null;
  if (dialog.open) dialog.close();
}

async function submit(form, view, page) {
  const fields = [...form.querySelectorAll(".block-input [data-action]")];
  const missing = fields.filter((field) => field.dataset.required === "true" && isEmpty(field.held()));
  const errors = Object.fromEntries(missing.map((field) => [field.dataset.block, "Please complete this required field."]));
  const found = missing.length ? {errors} : await page.run(act("submit_view", {view_id: view.id, values: values(form)}));
  if (!form.isConnected) return; // the app has shown something else meanwhile
  for (const field of fields) {
    const problem = found?.errors?.[field.dataset.block] ?? "";
    document.getElementById(`${field.id}-error`).textContent = problem;
    field.setAttribute("aria-invalid", String(!!problem));
  }
  form.querySelector("[aria-invalid=true]")?.focus();
}

export function drawHome(host, view, page) {
  if (host.drawn === (view?.hash ?? "")) return;
  host.drawn = view?.hash ?? "";
  if (!view) {
    host.replaceChildren(h("p.quiet", {}, "This app has not put anything here yet."));
    return;
  }
  host.replaceChildren(...drawBlocks(view.blocks, viewContext(view, page, host)));
}

function viewContext(view, page, host, kept) {
  const press = (element, _block, value) =>
    page.run(act("click_view", {view_id: view.id, action_id: element.action_id, value, values: values(host)}));
  return {names, act: press, kept};
}

export const modalView = () => shown;
