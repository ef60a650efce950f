// Elements are built, never parsed from text: nothing that a message holds can become markup.

/** h("button.primary", {type: "button", onclick}, "Send", child, ...) */
export function h(spec, attributes = {}, ...children) {
  const [tag, ...classes] = spec.split(".");
  const element = document.createElement(tag || "div");
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && typeof value === "boolean") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const SAFE = /^(https?:|mailto:|tel:)/i;

/** A link that opens in a new tab; an address of another kind (javascript:, data:) stays text. */
export function link(url, label) {
  const children = label instanceof Node ? [label] : [label ?? url];
  const own = url.startsWith("/kb/");
  if (!SAFE.test(url) && !own) return h("span", {}, ...children);
  return h("a", {href: url, target: "_blank", rel: "noopener noreferrer"}, ...children);
}

export function fragment(...children) {
  const made = document.createDocumentFragment();
  made.append(...children);
  return made;
}

/** Arrow keys, Home and End move the focus among the items that `selector` finds in `list`. */
export function arrows(list, selector) {
  list.addEventListener("keydown", (event) => {
    const items = [...list.querySelectorAll(selector)];
    const at = items.indexOf(document.activeElement);
    if (at < 0) return;
    const next = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1}[event.key];
    if (next === undefined || !items[next]) return;
    event.preventDefault();
    items[next].focus();
  });
}
