// A small menu below a button: arrows move, Enter chooses, Esc and a press elsewhere close.
import {h} from "./dom.js";

let open = null;

/** `items`: [{label, note, run}]. Opens the menu of `button`, or closes it when it is open. */
export function toggleMenu(button, items) {
  const same = open?.button === button;
  closeMenu();
  if (same) return;
  const list = h("div.menu-list", {role: "menu", "aria-label": button.getAttribute("aria-label")}, items.map((one) =>
    h("button.menu-item", {type: "button", role: "menuitem", tabindex: "-1", onclick: () => (closeMenu(true), one.run())},
      h("span", {}, one.label), one.note ? h("span.quiet", {}, one.note) : null)));
  document.body.append(list);
  place(list, button.getBoundingClientRect());
  button.setAttribute("aria-expanded", "true");
  open = {button, list};
  list.addEventListener("keydown", move);
  list.firstElementChild.focus();
}

export function closeMenu(focus = false) {
  if (!open) return;
  const {button, list} = open;
  open = null;
  list.remove();
  button.setAttribute("aria-expanded", "false");
  if (focus) button.focus();
}

/** Below the button where there is room, else above it; never beyond the window's sides. */
function place(list, at) {
  const {width, height} = list.getBoundingClientRect();
  const below = at.bottom + 4 + height <= innerHeight;
  list.style.top = `${Math.max(4, below ? at.bottom + 4 : at.top - height - 4)}px`;
  list.style.left = `${Math.max(8, at.left + width + 8 <= innerWidth ? at.left : at.right - width)}px`;
}

function move(event) {
  const items = [...event.currentTarget.children];
  const at = items.indexOf(document.activeElement);
  const next = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1}[event.key];
  if (event.key === "Escape" || event.key === "Tab") closeMenu(true);
  else if (next !== undefined) items.at(next % items.length).focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

document.addEventListener("pointerdown", (event) => {
  if (open && !open.list.contains(event.target) && !open.button.contains(event.target)) closeMenu();
});
window.addEventListener("resize", () => closeMenu());
