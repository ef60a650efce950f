// Slack's own markup: *bold* _italic_ ~strike~ `code` fences > quotes <url|label> <@U1> <#C1> <!here> :emoji:
import {fragment, h, link} from "./dom.js";
import {emoji} from "./emoji.js";

const TOKEN = new RegExp(
  [
    "<([^<>\\n]+)>",
    "`([^`\\n]+)`",
    "(?<![\\p{L}\\p{N}])([*_~])(?=[^\\s*_~]|[*_~](?!\\3))((?:<[^<>\\n]*>|`[^`\\n]+`|[^\\n<`])*?(?:<[^<>\\n]*>|`[^`\\n]+`|[^\\s<`]))\\3(?![\\p{L}\\p{N}])",
    ":([a-z0-9_+'-]+(?:::skin-tone-[2-6])?):",
  ].join("|"),
  "u",
);
const STYLES = {"*": "strong", _: "em", "~": "s"};

export function unescape(text) {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/** `names` tells how people and channels are called: {person(id), channel(id), me}. */
export function mrkdwn(text, names) {
  const made = document.createDocumentFragment();
  text.split(/```/).forEach((part, number, parts) => {
    const closed = number % 2 === 1 && number < parts.length - 1;
    if (closed) made.append(h("pre", {tabindex: "0"}, h("code", {}, unescape(part.replace(/^\n|\n$/g, "")))));
    else made.append(lines(number % 2 === 1 ? "```" + part : part, names));
  });
  return made;
}

function lines(text, names) {
  const made = document.createDocumentFragment();
  let quote = null;
  let fresh = true;
  for (const line of text.replace(/^\n/, "").replace(/\n$/, "").split("\n")) {
    const quoted = /^(?:&gt;|>) ?(.*)$/.exec(line);
    if (quoted) {
      if (!quote) made.append((quote = h("blockquote")));
      else quote.append(h("br"));
      quote.append(inline(quoted[1], names));
      fresh = true;
      continue;
    }
    quote = null;
    if (!fresh) made.append(h("br"));
    made.append(inline(line, names));
    fresh = false;
  }
  return made;
}

export function inline(text, names) {
  const made = document.createDocumentFragment();
  let rest = text;
  while (rest) {
    const found = TOKEN.exec(rest);
    if (!found) break;
    made.append(unescape(rest.slice(0, found.index)));
    made.append(piece(found, names));
    rest = rest.slice(found.index + found[0].length);
  }
  made.append(unescape(rest));
  return made;
}

function piece([whole, entity, code, style, styled, shortcode], names) {
  if (entity !== undefined) return entityOf(entity, names);
  if (code !== undefined) return h("code", {}, unescape(code));
  if (style) return h(STYLES[style], {}, inline(styled, names));
  if (shortcode) return emoji(shortcode);
  return whole;
}

function entityOf(entity, names) {
  const bar = entity.indexOf("|");
  const body = bar < 0 ? entity : entity.slice(0, bar);
  const label = bar < 0 ? null : entity.slice(bar + 1);
  if (body.startsWith("@")) return mention(body.slice(1), names);
  if (body.startsWith("#")) return h("span.mention", {}, `#${names.channel(body.slice(1)) ?? label ?? body.slice(1)}`);
  if (body.startsWith("!date^")) return unescape(label ?? body);
  if (body.startsWith("!")) return h("span.mention.loud", {}, `@${body.slice(1)}`);
  if (!/^(https?:|mailto:|tel:)/i.test(body)) return unescape(`<${entity}>`);
  return link(unescape(body), label === null ? unescape(body) : fragment(inline(label, names)));
}

export function mention(id, names) {
  const mine = id === names.me ? ".mine" : "";
  return h(`span.mention${mine}`, {}, `@${names.person(id) ?? id}`);
}
