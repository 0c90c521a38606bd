// A small chart as inline SVG: a mark with its interval for each row and series; rows are places from left to right.
const WIDEST = 640, HIGH = 320, LEFT = 62, RIGHT = 12, LEGEND = 18, ENTRY = 190;
const MARKS = ["M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0", "M-4,-4h8v8h-8z", "M0,-5l5,5l-5,5l-5,-5z", "M0,-5l5,9h-10z", "M-5,-1h4v-4h2v4h4v2h-4v4h-2v-4h-4z"];

const MARKED = 60; // points of a line; of more the line alone is drawn

const number = (value) => (Math.abs(value) >= 1e4 ? `${Number((value / 1e3).toPrecision(4))}k` : String(Number(value.toPrecision(4))));
const NAMESPACE = document.querySelector("figure svg").namespaceURI; // no page names an address

const svg = (name, attributes, text = "") => {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
};
const write = (x, y, text, anchor = "middle") => svg("text", { x, y, "text-anchor": anchor, "font-size": 12, fill: "#1b1b1b" }, text);
const stroke = (points, colour, width = 1.5) => svg("polyline", { points: points.map((point) => point.join()).join(" "), fill: "none", stroke: colour, "stroke-width": width });
const mark = (x, y, number, colour) => svg("path", { d: MARKS[number % MARKS.length], transform: `translate(${x},${y})`, fill: colour, stroke: "#1b1b1b", "stroke-width": 0.5 });

// Round values between low and high, four to ten.
function ticks(low, high) {
  const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [5, 2, 1].find((factor) => factor * power <= rough);
  return Array.from({ length: 12 }, (_, number) => (Math.ceil(low / step) + number) * step).filter((value) => value <= high);
}

// The same between two logarithms: at 1, 2 and 5 of each decade, or, where few of these lie there, at round values.
function logTicks(low, high) {
  const decades = Array.from({ length: Math.ceil(high - Math.floor(low)) }, (_, number) => Math.floor(low) + number);
  const found = decades.flatMap((decade) => [1, 2, 5].map((part) => decade + Math.log10(part))).filter((value) => value >= low && value <= high);
  return found.length > 2 ? found : ticks(10 ** low, 10 ** high).map(Math.log10);
}

// series: [{ name, colour, points: [{ value, low, high } or null, one for each row] }]; joined: whether rows are in order;
// log: whether the values stand on a logarithmic axis. A point without an interval has a value alone.
function chart(place, { title, rows, series, joined, log }) {
  const scaled = log ? Math.log10 : (value) => value;
  const points = series.flatMap((each) => each.points).filter(Boolean);
  place.replaceChildren();
  place.hidden = !points.length;
  if (!points.length) return;
  const WIDE = Math.max(300, Math.min(WIDEST, place.clientWidth)), PER_LINE = Math.max(1, Math.floor((WIDE - LEFT) / ENTRY)); // its text is 12 pixels on a phone too
  const ends = [Math.min(...points.map((point) => scaled(point.low ?? point.value))), Math.max(...points.map((point) => scaled(point.high ?? point.value)))];
  const room = (ends[1] - ends[0] || Math.abs(ends[0]) || 1) * 0.08;
  const step = (WIDE - LEFT - RIGHT) / rows.length, letters = Math.max(...rows.map((row) => row.length));
  const slanted = letters * 7 > step; // names that are too long to stand side by side
  const top = 30 + LEGEND * Math.ceil(series.length / PER_LINE), foot = HIGH - (slanted ? Math.min(110, 20 + 5 * letters) : 28);
  const height = (place) => foot - ((place - ends[0] + room) / (ends[1] - ends[0] + 2 * room)) * (foot - top);
  const y = (value) => height(scaled(value));
  const aside = points[0].low === undefined ? 0 : Math.min(14, (step * 0.7) / series.length);
  const x = (row, number) => LEFT + step * (row + 0.5) + aside * (number - (series.length - 1) / 2);
  const picture = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, width: WIDE, height: HIGH, "font-family": "inherit" });
  picture.append(write(4, 14, title, "start"));
  for (const place of (log ? logTicks : ticks)(ends[0] - room, ends[1] + room)) {
    const name = number(log ? 10 ** place : place);
    picture.append(stroke([[LEFT, height(place)], [WIDE - RIGHT, height(place)]], "var(--line)", 1), write(LEFT - 6, height(place) + 4, name, "end"));
  }
  rows.forEach((row, number) => {
    if (number % Math.ceil(14 / step)) return; // no room for a name
    const name = write(0, 0, row, slanted ? "end" : "middle");
    name.setAttribute("transform", `translate(${LEFT + step * (number + 0.5)},${foot + 16})${slanted ? " rotate(-45)" : ""}`);
    picture.append(name);
  });
  series.forEach(({ name, colour, points }, order) => {
    const line = points.map((point, row) => point && [x(row, order), y(point.value)]).filter(Boolean);
    const at = [LEFT + 8 + (order % PER_LINE) * ENTRY, 32 + LEGEND * Math.floor(order / PER_LINE)];
    picture.append(mark(at[0], at[1] - 4, order, colour), write(at[0] + 10, at[1], name, "start"));
    if (joined) picture.append(stroke(line, colour));
    points.forEach((point, row) => {
      if (!point) return;
      if (point.high > point.low) picture.append(stroke([[x(row, order), y(point.low)], [x(row, order), y(point.high)]], colour));
      if (points.length <= MARKED) picture.append(mark(x(row, order), y(point.value), order, colour));
    });
  });
  place.append(picture);
}
