// Modals and the App Home: an app's views.
import {drawBlocks} from "./blocks.js";
import {h} from "./dom.js";
import {act, names} from "./store.js";

const dialog = document.getElementById("modal");
let shown = null;

export function showModal(view, page) {
  shown = view;
  const context = viewContext(view, page);
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
  if (!dialog.open) dialog.showModal();
}

export function hideModal() {
  shown = null;
  if (dialog.open) dialog.close();
}

async function submit(form, view, page) {
  const values = {};
  const fields = [...form.querySelectorAll("[data-action]")];
  for (const field of fields) values[field.name] = {[field.dataset.action]: field.value || null};
  const missing = fields.filter((field) => field.required && !field.value.trim());
  const errors = Object.fromEntries(missing.map((field) => [field.name, "Please complete this required field."]));
  const found = missing.length ? {errors} : await page.run(act("submit_view", {view_id: view.id, values}));
  for (const field of fields) {
    const problem = found?.errors?.[field.name] ?? "";
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
  host.replaceChildren(...drawBlocks(view.blocks, viewContext(view, page)));
}

function viewContext(view, page) {
  const press = (element, _block, value) =>
    page.run(act("click_view", {view_id: view.id, action_id: element.action_id, value}));
  return {names, act: press};
}

export const modalView = () => shown;
