// What hangs on a message: files, and messages that were forwarded with it.
import {drawBlocks} from "./blocks.js";
import {h, link} from "./dom.js";
import {mrkdwn} from "./mrkdwn.js";

const UNITS = ["B", "KB", "MB", "GB"];

export function drawAttachments(message, context) {
  const own = {names: context.names, act: context.act};
  return [
    ...(message.files ?? []).map(drawFile),
    ...(message.attachments ?? []).map((one) => (one.is_share ? drawShared(one, context) : drawPlain(one, own))),
  ];
}

function drawPlain(attachment, context) {
  return h("blockquote.attachment", {}, mrkdwn(attachment.text ?? attachment.fallback ?? "", context.names), ...drawBlocks(attachment.blocks ?? [], context));
}

/** A forwarded message. Its buttons are only shown: they belong to where it was posted. */
export function drawShared(shared, {names}) {
  const blocks = shared.message_blocks?.[0]?.message?.blocks ?? [];
  const ownWords = blocks.some((one) => one.type !== "rich_text");
  const body = ownWords ? drawBlocks(blocks.filter((one) => !/actions$/.test(one.type)), {names, act: () => {}}) : [mrkdwn(shared.text ?? "", names)];
  return h("blockquote.attachment.shared", {"aria-label": `Forwarded from ${shared.author_name}`},
    h("p.shared-author", {}, h("b", {}, shared.author_name)), h("div", {}, ...body), ...(shared.files ?? []).map(drawFile),
    shared.footer ? h("p.quiet", {}, shared.footer, shared.from_url ? [" · ", viewLink(shared.from_url)] : null) : null);
}

function viewLink(url) {
  const made = link(url, "View message");
  made.removeAttribute("target"); // it opens here, not beside
  return made;
}

export function drawFile(file) {
  const facts = [file.mode === "snippet" ? "Text" : file.filetype?.toUpperCase(), size(file.size)].filter(Boolean).join(" · ");
  return h("div.file", {}, h("span.file-mark", {"aria-hidden": "true"}, file.mode === "snippet" ? "📄" : "📎"),
    h("div.file-body", {}, h("b", {}, file.name), h("span.quiet", {}, ` ${facts}`),
      file.preview ? h("pre", {tabindex: "0"}, h("code", {}, file.preview)) : null,
      file.lines_more ? h("p.quiet", {}, `${file.lines_more} more ${file.lines_more === 1 ? "line" : "lines"}`) : null));
}

export function size(bytes) {
  let unit = 0;
  let left = bytes;
  while (left >= 1000 && unit < UNITS.length - 1) {
    left /= 1000;
    unit += 1;
  }
  return `${unit && left < 10 ? left.toFixed(1) : Math.round(left)} ${UNITS[unit]}`;
}
