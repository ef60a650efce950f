// Standard Markdown, as Slack's markdown block takes it: headings, lists, tables, fences, quotes, links, emphasis.
import {h, link} from "./dom.js";
import {emoji} from "./emoji.js";

const INLINE = new RegExp(
  [
    "\\\\(?<escaped>[\\\\`*_{}\\[\\]()#+\\-.!~|<>])",
    "(?<ticks>`+)(?<code>.+?)\\k<ticks>(?!`)",
    "!\\[(?<alt>[^\\]]*)\\]\\((?<src>[^()\\s]+)\\)",
    "\\[(?<label>(?:[^\\[\\]]|\\[[^\\]]*\\])+)\\]\\(<?(?<url>[^()\\s<>]*(?:\\([^()\\s]*\\)[^()\\s<>]*)*)>?(?:\\s+\"[^\"]*\")?\\)",
    "<(?<auto>https?://[^<>\\s]+)>",
    "(?<two>\\*\\*|__)(?=\\S)(?<strong>.*?\\S)\\k<two>",
    "(?<![\\p{L}\\p{N}])(?<one>[*_])(?=[^\\s*_])(?<em>.*?[^\\s])\\k<one>(?![\\p{L}\\p{N}])",
    "~~(?=\\S)(?<strike>.+?)~~",
    "(?<bare>https?://[^\\s<>)\\]]+[^\\s<>)\\].,;:!?'\"])",
    ":(?<shortcode>[a-z0-9_+-]+):",
  ].join("|"),
  "u",
);
const ITEM = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const TABLE_LINE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

export function inline(text) {
  const made = document.createDocumentFragment();
  let rest = text;
  while (rest) {
    const found = INLINE.exec(rest);
    if (!found) break;
    made.append(rest.slice(0, found.index), piece(found[0], found.groups));
    rest = rest.slice(found.index + found[0].length);
  }
  made.append(rest);
  return made;
}

function piece(whole, g) {
  if (g.escaped !== undefined) return g.escaped;
  if (g.code !== undefined) return h("code", {}, g.code.trim() || g.code);
  if (g.src !== undefined) return link(g.src, g.alt || "image");
  if (g.url !== undefined) return link(g.url, inline(g.label));
  if (g.auto !== undefined) return link(g.auto);
  if (g.strong !== undefined) return h("strong", {}, inline(g.strong));
  if (g.em !== undefined) return h("em", {}, inline(g.em));
  if (g.strike !== undefined) return h("s", {}, inline(g.strike));
  if (g.bare !== undefined) return link(g.bare);
  return g.shortcode !== undefined ? emoji(g.shortcode) : whole;
}

export function markdown(text) {
  const made = document.createDocumentFragment();
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  while (lines.length) made.append(takeBlock(lines) ?? "");
  return made;
}

function takeBlock(lines) {
  const line = lines[0];
  if (!line.trim()) return void lines.shift();
  if (/^ {0,3}(```|~~~)/.test(line)) return fence(lines);
  const heading = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/.exec(line);
  if (heading) {
    lines.shift();
    return h("p.heading", {role: "heading", "aria-level": heading[1].length + 2}, inline(heading[2]));
  }
  if (RULE.test(line)) return lines.shift() && h("hr");
  if (/^ {0,3}>/.test(line)) return quote(lines);
  if (lines[1] !== undefined && line.includes("|") && TABLE_LINE.test(lines[1])) return table(lines);
  if (ITEM.test(line)) return list(lines);
  return paragraph(lines);
}

function fence(lines) {
  const mark = /^ {0,3}(`{3,}|~{3,})/.exec(lines.shift())[1];
  const body = [];
  while (lines.length && !lines[0].trim().startsWith(mark)) body.push(lines.shift());
  lines.shift();
  return h("pre", {tabindex: "0"}, h("code", {}, body.join("\n")));
}

function quote(lines) {
  const body = [];
  while (lines.length && /^ {0,3}>/.test(lines[0])) body.push(lines.shift().replace(/^ {0,3}> ?/, ""));
  return h("blockquote", {}, markdown(body.join("\n")));
}

function list(lines) {
  const first = ITEM.exec(lines[0]);
  const ordered = first[2] !== undefined;
  const made = h(ordered ? "ol" : "ul", {start: ordered && first[2] !== "1" ? first[2] : undefined});
  while (lines.length) {
    const found = ITEM.exec(lines[0]);
    if (!found || found[1].length < first[1].length || (found[2] !== undefined) !== ordered) break;
    lines.shift();
    const body = [found[3]];
    const deeper = (line) => /^\s/.test(line) && line.search(/\S/) > first[1].length;
    while (lines.length && (deeper(lines[0]) || (!lines[0].trim() && lines[1] !== undefined && deeper(lines[1]))))
      body.push(lines.shift());
    const indent = Math.min(...body.slice(1).filter((line) => line.trim()).map((line) => line.search(/\S/)), 99);
    const inner = [body[0], ...body.slice(1).map((line) => line.slice(indent))].join("\n");
    made.append(h("li", {}, unwrapped(markdown(inner))));
    while (lines.length > 1 && !lines[0].trim() && ITEM.test(lines[1])) lines.shift();
  }
  return made;
}

/** A list item of one paragraph is drawn without the paragraph's distance. */
function unwrapped(made) {
  const first = made.firstElementChild;
  if (first?.tagName === "P" && !first.className) first.replaceWith(...first.childNodes);
  return made;
}

function table(lines) {
  const head = cells(lines.shift());
  const align = cells(lines.shift()).map((mark) => (/^:-+:$/.test(mark) ? "center" : /-:$/.test(mark) ? "right" : ""));
  const row = (texts, tag) =>
    h("tr", {}, head.map((_, n) => h(align[n] ? `${tag}.${align[n]}` : tag, {}, inline(texts[n] ?? ""))));
  const body = [];
  while (lines.length && lines[0].includes("|")) body.push(row(cells(lines.shift()), "td"));
  return h("div.scroll", {tabindex: "0"}, h("table", {}, h("thead", {}, row(head, "th")), h("tbody", {}, body)));
}

function cells(line) {
  return line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim());
}

function paragraph(lines) {
  const body = [];
  while (lines.length && lines[0].trim() && !(body.length && startsBlock(lines[0]))) body.push(lines.shift());
  const made = h("p");
  body.forEach((line, number) => made.append(number ? h("br") : "", inline(line.trim())));
  return made;
}

function startsBlock(line) {
  return /^ {0,3}(#{1,6}\s|```|~~~|>)/.test(line) || ITEM.test(line) || RULE.test(line);
}
