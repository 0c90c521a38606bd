// Figures that answer: a pointer, or the arrow keys, show what a mark says; a click, or Enter, opens its run, of several
// their list. The numbers stand behind each figure as JSON, by row; a group of the picture names the rows that it shows.
const NEAR = 24; // pixels between a pointer and the mark that answers

const STEPS = 24;
const along = ([x, y], [far, high]) => Array.from({ length: STEPS + 1 }, (_, step) => [x + (step / STEPS) * (far - x), y + (step / STEPS) * (high - y)]);

// The places of a group's marks in the picture, in the order of its rows: of marks, of cells, or of the points of a line.
function placesOf(group, rows) {
  const marks = [...group.querySelectorAll("use")].map((use) => [Number(use.getAttribute("x")), Number(use.getAttribute("y"))]);
  if (marks.length === rows.length) return marks;
  const paths = [...group.querySelectorAll("path")].filter((path) => !path.closest("defs"));
  if (paths.length === rows.length) return paths.map((path) => path.getBBox()).map((box) => [box.x + box.width / 2, box.y + box.height / 2]);
  const across = new Set(rows).size === 1 && paths.length === 1;
  const points = [...(paths[0]?.getAttribute("d") ?? "").matchAll(/[ML] ?(\S+) (\S+)/g)].map(([, x, y]) => [Number(x), Number(y)]);
  if (across && points.length === 2) return along(...points); // a level: every place on it answers
  return points.length === rows.length ? points : [];
}

// Marks that a panel cuts off answer nothing.
function inside(group, [x, y]) {
  const clip = group.querySelector("[clip-path]")?.getAttribute("clip-path").match(/#([^)]+)/)?.[1];
  const rect = clip && document.getElementById(clip)?.querySelector("rect");
  if (!rect) return true;
  const [left, top, width, height] = ["x", "y", "width", "height"].map((name) => Number(rect.getAttribute(name)));
  return x >= left - 1 && x <= left + width + 1 && y >= top - 1 && y <= top + height + 1;
}

const card = create("div", { className: "card", hidden: true });
card.setAttribute("role", "status");
let pinned = null; // the figure whose card stays, so that its links can be reached

function hide() {
  pinned?.focus();
  pinned = null;
  card.hidden = true;
  document.querySelector("svg .ring")?.remove();
}

// Show what a mark says beside it. links: whether its runs can be opened from here.
function show(figure, { x, y, group, told }, links) {
  figure.querySelector(".ring")?.remove();
  const svg = group.ownerSVGElement, ring = document.createElementNS(svg.namespaceURI, "circle");
  for (const [key, value] of Object.entries({ class: "ring", cx: x, cy: y, r: 6 })) ring.setAttribute(key, value);
  svg.append(ring);
  const linked = (each) => each.map(([digest, value]) => create("a", { href: `${figure.dataset.runs}${digest}.html`, textContent: value || digest.slice(0, 6) }));
  const runs = linked(told.runs), beside = linked(told.baseline_runs), spaced = (links) => create("span", {}, ...links.flatMap((each) => [each, " "]));
  const values = told.told.map(([name, value]) => create("span", {}, create("small", { textContent: `${name} ` }), value));
  card.replaceChildren(...(told.of ? [create("b", { textContent: told.of })] : []), ...values);
  const others = beside.length ? [create("small", { textContent: "compared with:" }), spaced(beside)] : [];
  if (links) card.append(create("small", { textContent: runs.length > 1 ? "runs, each by its value:" : "run:" }), spaced(runs), ...others);
  else if (runs.length) card.append(create("small", { textContent: `${runs.length} run${runs.length > 1 ? "s: click, or Enter, to see each" : ": click, or Enter, to open it"}` }));
  card.hidden = false;
  const at = ring.getBoundingClientRect();
  card.style.left = `${Math.max(8, Math.min(at.right + 6, innerWidth - card.offsetWidth - 8))}px`;
  card.style.top = `${at.bottom + card.offsetHeight + 6 > innerHeight ? Math.max(8, at.top - card.offsetHeight - 6) : at.bottom + 6}px`;
}

function act(figure, spot) {
  const { runs } = spot.told;
  if (runs.length === 1) location.href = view.carry(`${figure.dataset.runs}${runs[0][0]}.html`);
  if (runs.length < 2) return;
  show(figure, spot, true);
  pinned = figure;
  card.querySelector("a").focus();
}

function enliven(figure) {
  const numbers = numbersOf(figure);
  const groups = [...figure.querySelectorAll("[data-rows], [data-with]")];
  const of = (group) => numbers[(group.dataset.rows ?? group.dataset.with).split(" ")[0]]?.of ?? "";
  const spots = groups.filter((group) => group.dataset.rows).flatMap((group) => {
    const rows = group.dataset.rows.split(" ");
    return placesOf(group, rows).map(([x, y], order) => ({ x, y, group, told: numbers[rows[order] ?? rows[0]] })).filter((spot) => inside(group, [spot.x, spot.y]));
  });
  if (!spots.length) return;
  const keyed = spots.filter((spot, place) => spots.findIndex((other) => other.told === spot.told) === place); // one of each
  let current = -1;
  const answer = (spot) => ((current = keyed.findIndex((each) => each.told === spot.told)), show(figure, spot, false));
  // The nearest of the marks that are not dimmed, by distance or as `far` measures it.
  const nearest = (far, from = spots) => from.filter((spot) => !spot.group.classList.contains("dim")).reduce((best, spot) => (far(spot) < far(best ?? spot) || !best ? spot : best), null);
  const pointed = (event) => {
    const scale = event.currentTarget.getScreenCTM(), x = (event.clientX - scale.e) / scale.a, y = (event.clientY - scale.f) / scale.d;
    const found = nearest((spot) => Math.hypot(spot.x - x, spot.y - y));
    return found && Math.hypot(found.x - x, found.y - y) * scale.a <= NEAR ? found : null;
  };
  tabulate(figure, numbers);
  if (figure.dataset.slider) slide(figure, spots);
  figure.setAttribute("role", "group");
  figure.classList.add("live");
  for (const panel of figure.querySelectorAll("svg")) {
    panel.addEventListener("pointermove", (event) => {
      if (pinned) return;
      const spot = pointed(event);
      panel.style.cursor = spot?.told.runs.length ? "pointer" : "";
      spot ? answer(spot) : hide();
    });
    panel.addEventListener("pointerleave", () => pinned || hide());
    panel.addEventListener("click", (event) => {
      const spot = pointed(event);
      hide();
      if (spot) answer(spot), act(figure, spot);
    });
  }
  figure.addEventListener("keydown", (event) => {
    const at = keyed[current], beside = (sign) => keyed.filter((spot) => sign * (spot.y - at.y) > 1);
    const moves = {
      ArrowRight: () => keyed[(current + 1) % keyed.length],
      ArrowLeft: () => keyed[(current - 1 + keyed.length) % keyed.length],
      ArrowUp: () => nearest((spot) => Math.hypot(4 * (spot.x - at.x), spot.y - at.y), at ? beside(-1) : keyed),
      ArrowDown: () => nearest((spot) => Math.hypot(4 * (spot.x - at.x), spot.y - at.y), at ? beside(1) : keyed),
    };
    if (event.key === "Enter" && at) return event.preventDefault(), act(figure, at);
    if (!(event.key in moves)) return;
    event.preventDefault();
    const spot = at || event.key.startsWith("ArrowR") || event.key.startsWith("ArrowL") ? moves[event.key]() : keyed[0];
    if (spot) answer(spot);
  });
  figure.addEventListener("blur", () => pinned || hide());
  // The words of a legend, or of an axis, choose their variant.
  const names = new Set(groups.map(of));
  for (const text of figure.querySelectorAll("text")) {
    const name = [...names].find((each) => each && (text.textContent === each || text.textContent.startsWith(`${each},`)));
    if (!name) continue;
    text.style.cursor = "pointer";
    text.addEventListener("click", () => view.set({ variant: view.get("variant") === name ? null : name }));
  }
  view.follow(() => {
    const chosen = names.has(view.get("variant")) ? view.get("variant") : "";
    for (const group of groups) group.classList.toggle("dim", chosen !== "" && of(group) !== "" && of(group) !== chosen);
  });
}

// The numbers of a figure as a table, behind one click.
function tabulate(figure, numbers) {
  const table = create("table"), box = create("details", { className: "notes" }, create("summary", { textContent: "the numbers of this figure" }));
  box.addEventListener("toggle", () => {
    if (table.tBodies.length) return;
    const rows = Object.values(numbers), names = [...new Set(rows.flatMap((row) => row.told.map(([name]) => name)))];
    const line = (tag, cells) => create("tr", {}, ...cells.map((text, place) => create(place ? tag : "th", { textContent: text ?? "", scope: place ? "" : "row" })));
    const lines = rows.map((row) => line("td", [row.of, ...names.map((name) => row.told.find(([each]) => each === name)?.[1])]));
    table.append(create("thead", {}, line("th", ["", ...names])), create("tbody", {}, ...lines));
    const scroll = create("div", { className: "scroll", tabIndex: 0 }, table);
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", `The numbers of ${figure.getAttribute("aria-label")}`);
    box.append(scroll);
  });
  figure.nextElementSibling.after(box);
}

// A slider along one line of a figure: what the line says there, and how many other marks lie beyond.
function slide(figure, spots) {
  const [line, along, compared] = figure.dataset.slider.split("|");
  const by = (spot, name) => valueIn(spot.told, name);
  const steps = spots.filter((spot) => spot.told.of === line).sort((a, b) => by(a, along) - by(b, along));
  const others = spots.filter((spot) => by(spot, compared) > 0).sort((a, b) => by(a, compared) - by(b, compared));
  if (steps.length < 2) return;
  const field = create("input", { type: "range", min: 0, max: steps.length - 1 }), said = create("output");
  field.setAttribute("aria-label", `${along} of ${line}`);
  const bars = [steps, others].map(([first]) => {
    const panel = (first ?? steps[0]).group.ownerSVGElement, { y, height } = panel.viewBox.baseVal;
    const bar = panel.appendChild(document.createElementNS(panel.namespaceURI, "line"));
    for (const [name, value] of Object.entries({ class: "bar", y1: y + 0.1 * height, y2: y + 0.85 * height })) bar.setAttribute(name, value);
    return bar;
  });
  figure.before(create("div", { className: "slider" }, field, said));
  field.addEventListener("input", () => view.set({ slider: field.value }, false));
  view.follow(() => {
    const spot = steps[Math.min(steps.length - 1, view.get("slider") || Math.floor(steps.length / 2))], at = by(spot, along);
    const beyond = others.filter((other) => by(other, compared) > at).length, last = by(steps.at(-1), "mean"), best = by(spot, "mean");
    field.value = steps.indexOf(spot);
    said.textContent = `${line}, at ${at}: ${best}, ${(best - last).toFixed(4)} above that at ${by(steps.at(-1), along)}.${others.length ? ` ${Math.round((100 * beyond) / others.length)} % of ${others.length} learned spans are longer.` : ""}`;
    const [near, far] = [others[0], others.at(-1)].map((other) => other && [Math.log(by(other, compared)), other.x]);
    const places = [spot.x, near && far[0] > near[0] ? near[1] + ((Math.log(at) - near[0]) / (far[0] - near[0])) * (far[1] - near[1]) : -9];
    bars.forEach((bar, number) => ["x1", "x2"].forEach((end) => bar.setAttribute(end, places[number])));
  });
}

document.body.append(card);
card.addEventListener("keydown", (event) => event.key === "Escape" && hide());
addEventListener("keydown", (event) => event.key === "Escape" && pinned && hide());
addEventListener("pointerdown", (event) => pinned && !card.contains(event.target) && hide());
addEventListener("scroll", () => pinned || hide(), { passive: true });
document.querySelectorAll("figure[data-runs]").forEach(enliven);
