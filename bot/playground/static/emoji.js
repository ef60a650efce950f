import {h} from "./dom.js";

// The shortcodes that people and bots use most; others stay as they are written.
const COMMON = {
  "+1": "👍", thumbsup: "👍", "-1": "👎", thumbsdown: "👎", eyes: "👀", tada: "🎉", heart: "❤️", joy: "😂", smile: "😄",
  slightly_smiling_face: "🙂", grinning: "😀", wink: "😉", cry: "😢", thinking_face: "🤔", pray: "🙏", clap: "👏", wave: "👋",
  fire: "🔥", rocket: "🚀", sparkles: "✨", bulb: "💡", memo: "📝", book: "📖", books: "📚", bookmark: "🔖", link: "🔗",
  mag: "🔍", mag_right: "🔎", lock: "🔒", unlock: "🔓", key: "🔑", bell: "🔔", calendar: "📅", clock1: "🕐", hourglass: "⌛",
  hourglass_flowing_sand: "⏳", warning: "⚠️", no_entry: "⛔", x: "❌", white_check_mark: "✅", heavy_check_mark: "✔️",
  ballot_box_with_check: "☑️", question: "❓", grey_question: "❔", exclamation: "❗", information_source: "ℹ️", star: "⭐",
  red_circle: "🔴", large_green_circle: "🟢", large_yellow_circle: "🟡", large_blue_circle: "🔵", arrow_right: "➡️",
  arrow_left: "⬅️", arrow_up: "⬆️", arrow_down: "⬇️", arrows_counterclockwise: "🔄", gear: "⚙️", wrench: "🔧", hammer: "🔨",
  bug: "🐛", package: "📦", chart_with_upwards_trend: "📈", bar_chart: "📊", file_folder: "📁", page_facing_up: "📄",
  pencil: "✏️", pencil2: "✏️", speech_balloon: "💬", robot_face: "🤖", raised_hands: "🙌", muscle: "💪", ok_hand: "👌",
  100: "💯", seedling: "🌱", herb: "🌿", deciduous_tree: "🌳", palm_tree: "🌴", sunny: "☀️", coffee: "☕", money_with_wings: "💸",
  moneybag: "💰", truck: "🚚", airplane: "✈️", house: "🏠", office: "🏢", globe_with_meridians: "🌐", earth_africa: "🌍",
  one: "1️⃣", two: "2️⃣", three: "3️⃣", four: "4️⃣", five: "5️⃣",
};

export const QUICK = ["+1", "eyes", "white_check_mark", "tada"];

export function glyph(name) {
  return COMMON[name.split("::")[0]];
}

export function emoji(name) {
  const found = glyph(name);
  if (!found) return `:${name}:`;
  return h("span.emoji", {role: "img", "aria-label": name.replaceAll("_", " "), title: `:${name}:`}, found);
}
