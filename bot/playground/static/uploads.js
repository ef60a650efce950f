// Files that wait in a message field until the message is sent.
import {size} from "./attachments.js";
import {h} from "./dom.js";

const BEGINNING = 256 * 1024; // of a file the server needs no more: only a text's first lines are shown

/** `{row, input, pick(), take(), putBack(files), any()}`: the row of chosen files, which `take` gives and empties. */
export function uploads(changed) {
  let chosen = [];
  const row = h("ul.uploads", {"aria-label": "Attached files", hidden: true});
  const input = h("input", {type: "file", multiple: true, hidden: true, "aria-label": "Choose files", tabindex: "-1"});
  const draw = () => {
    row.hidden = !chosen.length;
    row.replaceChildren(...chosen.map((file) => h("li.upload", {}, h("span", {}, file.name), h("span.quiet", {}, size(file.size)),
      h("button.upload-remove", {type: "button", "aria-label": `Remove ${file.name}`, onclick: () => (drop(file), changed())}, "✕"))));
  };
  const drop = (file) => {
    chosen = chosen.filter((one) => one !== file);
    draw();
  };
  const add = (files) => {
    chosen = [...chosen, ...files].slice(0, 10);
    draw();
    changed();
  };
  input.addEventListener("change", () => {
    add(input.files);
    input.value = "";
  });
  return {
    row, input, add,
    pick: () => input.click(),
    any: () => chosen.length > 0,
    putBack: (files) => ((chosen = [...files, ...chosen]), draw()),
    take: () => {
      const taken = chosen;
      chosen = [];
      draw();
      return taken;
    },
  };
}

/** What of files is sent. */
export const read = (files) => Promise.all(files.map(told));

async function told(file) {
  const bytes = new Uint8Array(await file.slice(0, BEGINNING).arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return {name: file.name, mimetype: file.type, size: file.size, content: btoa(text)};
}
