// The pivot table of one question. The view is kept in the address behind #, so that a link restores it.
const { axes, questions, factors, shades } = JSON.parse(document.getElementById("cells").textContent);
const fields = Object.fromEntries([...document.querySelectorAll("form.pivot select")].map((select) => [select.name, select]));
const table = document.getElementById("pivot");

const options = (select, values, wanted) => {
  select.replaceChildren(...values.map(([value, text]) => new Option(text, value)));
  select.value = values.some(([value]) => value === wanted) ? wanted : values[0][0];
};
// The values of an axis: numbers rising, names in the order of the question, whose first variant is the baseline.
const of = (cells, axis) => {
  const values = [...new Set(cells.map((cell) => cell[axis]))];
  return axis === "S" || axis === "k" ? values.sort((a, b) => a - b) : values;
};
const label = (axis, value) => (value === null ? `no ${axis}` : axis === "S" || axis === "k" ? `${axis} = ${value}` : value);
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
// With the decimals that two digits of a column's narrowest half interval take.
const digits = (value, narrow) => (Math.abs(value) >= 1e4 || !Number.isFinite(narrow) ? number(value) : value.toFixed(Math.min(4, Math.max(0, 1 - Math.floor(Math.log10(narrow))))));

// Fill the selects that depend on the question; `asked` is what a link asks for.
function choose(asked) {
  const crossed = Object.keys(questions).find((name) => ["S", "k"].some((axis) => of(questions[name].cells, axis).length > 2));
  options(fields.question, Object.entries(questions).map(([name, question]) => [name, question.question]), asked.question ?? crossed);
  const { cells, measures } = questions[fields.question.value];
  const varied = axes.filter((axis) => of(cells, axis).length > 1);
  const offered = (varied.length > 1 ? varied : axes).map((axis) => [axis, axis]);
  const gridded = ["S", "k"].filter((axis) => of(cells, axis).filter((value) => value !== null).length > 1);
  const usual = [...gridded.slice(0, 1), ...["variant", "text"].filter((axis) => varied.includes(axis)), ...gridded.slice(1), "text"];
  options(fields.rows, offered, asked.rows ?? usual[0]);
  options(fields.columns, offered, asked.columns ?? usual.find((axis) => axis !== fields.rows.value));
  for (const axis of axes) {
    const values = of(cells, axis), left = ![fields.rows.value, fields.columns.value].includes(axis) && values.length > 1;
    const each = values.map((value) => [String(value), label(axis, value)]), all = ["", `mean over every ${axis}`];
    const apart = axis === "variant" || axis === "text"; // these are averaged over only where that is asked for
    options(fields[axis], left ? (apart ? [...each, all] : [all, ...each]) : [["", ""]], asked[axis]);
    fields[axis].parentElement.hidden = !left;
  }
  options(fields.measure, measures.map(([measure]) => [measure, measure]), asked.measure);
  const rows = of(cells, fields.rows.value).map((value) => [String(value), label(fields.rows.value, value)]);
  options(fields.baseline, [["", "nothing"], ...rows], asked.baseline);
}

// One place of the grid: by seed the mean of its cells, of the seeds that all of them have; and the run of the first.
function at(cells, view, row, column) {
  const matching = cells.filter((cell) => cell[view.rows] === row && (view.rows === view.columns || cell[view.columns] === column));
  const known = matching.map((cell) => cell[view.measure]).filter((values) => Object.keys(values).length);
  const seeds = Object.keys(known[0] ?? {}).filter((seed) => known.every((values) => seed in values));
  return { values: Object.fromEntries(seeds.map((seed) => [seed, mean(known.map((values) => values[seed]))])), run: matching[0]?.run };
}

// The divisor of a place: the baseline in its column; a baseline without k, such as softmax, serves every k.
function beside(cells, all, view, base, column) {
  const chosen = axes.filter((axis) => view[axis]);
  const kept = [...cells, ...all.filter((cell) => !cells.includes(cell) && chosen.every((axis) => cell[axis] === null || String(cell[axis]) === view[axis]))];
  const found = at(kept, view, base, column);
  return Object.keys(found.values).length ? found : at(kept, view, base, null);
}

// Mean, interval and values of a place, divided seed by seed where there is a baseline; null where nothing is known. The
// interval ends at the bounds of what is measured: see workflow/results/statistics.py.
function estimate({ values, run }, base, [least, most]) {
  const seeds = Object.keys(values).filter((seed) => !base || base.values[seed]);
  const kept = seeds.map((seed) => (base ? values[seed] / base.values[seed] : values[seed]));
  if (!kept.length) return null;
  const value = mean(kept), n = kept.length;
  const deviation = Math.sqrt(kept.reduce((sum, each) => sum + (each - value) ** 2, 0) / (n - 1));
  const half = n > 2 && factors[n] ? factors[n] * deviation : 0;
  const low = half ? Math.max(least ?? -Infinity, value - half) : Math.min(...kept);
  const high = half ? Math.min((base ? null : most) ?? Infinity, value + half) : Math.max(...kept);
  return { value, half, low, high, kept, run };
}

function place(found, divided, narrow) {
  const cell = create("td");
  cell.dataset.sort = found?.value ?? "";
  if (!found) return cell;
  const { value, half, low, high, kept, run } = found;
  cell.append(create("a", { href: run, className: "ours", textContent: `${digits(value, narrow)}${divided ? " x" : ""}` }));
  const even = low === value - half && high === value + half;
  const interval = even ? ` ± ${digits(half, narrow)}` : ` (${digits(low, narrow)} to ${digits(high, narrow)})`;
  const scatter = half ? interval : kept.length === 2 && kept[0] !== kept[1] ? ` (${kept.map(number).join(", ")})` : "";
  if (scatter) cell.append(create("span", { className: "half", textContent: scatter }));
  return cell;
}

const heading = (text, scope) => create("th", { textContent: text, scope });

// The head of a column: a button, as in every table that can be sorted.
function head(text) {
  const cell = heading("", "col");
  cell.append(create("button", { type: "button", textContent: text }));
  return cell;
}

const seen = () => Object.fromEntries(Object.entries(fields).map(([name, select]) => [name, select.value]));

function draw() {
  const chosen = seen();
  const { cells: all, measures, colours } = questions[chosen.question];
  const cells = all.filter((cell) => axes.every((axis) => !chosen[axis] || String(cell[axis]) === chosen[axis]));
  const down = of(cells, chosen.rows);
  const across = chosen.rows === chosen.columns ? [undefined] : of(cells, chosen.columns);
  const base = down.find((row) => String(row) === chosen.baseline), divided = chosen.baseline !== "";
  const [, better, bounds] = measures.find(([measure]) => measure === chosen.measure);
  const found = down.map((row) => across.map((column) => estimate(at(cells, chosen, row, column), divided ? beside(cells, all, chosen, base, column) : null, bounds)));
  const names = across.map((column) => (column === undefined ? chosen.measure : label(chosen.columns, column)));
  table.tHead.rows[0].replaceChildren(head(chosen.rows), ...names.map(head));
  const narrowest = across.map((_, order) => Math.min(...found.map((row) => row[order]?.half || Infinity)));
  table.tBodies[0].replaceChildren(...down.map((row, number) => {
    const line = create("tr");
    const name = heading(label(chosen.rows, row), "row");
    name.dataset.sort = row ?? "";
    line.append(name, ...found[number].map((each, order) => place(each, divided, narrowest[order])));
    return line;
  }));
  table.sort();
  const title = divided ? `${chosen.measure}, divided by ${label(chosen.rows, base)}` : chosen.measure + (better ? ` (${better} is better)` : "");
  const series = names.map((name, order) => ({ name, colour: colours[name] ?? shades[Math.round((order * (shades.length - 1)) / Math.max(1, names.length - 1))], points: found.map((row) => row[order]) }));
  const figure = document.getElementById("chart");
  chart(figure, { title, rows: down.map((row) => label(chosen.rows, row)), series, joined: chosen.rows === "S" || chosen.rows === "k" });
  figure.setAttribute("aria-label", `${title} by ${chosen.rows}; the table has the numbers`);
}

for (const select of Object.values(fields)) {
  select.addEventListener("change", () => {
    const asked = select === fields.question ? { question: select.value } : seen();
    if (select === fields.rows || select === fields.columns) axes.forEach((axis) => delete asked[axis]);
    choose(asked);
    view.set(seen());
  });
}
sortable(table); // of the page's own script, as `tools`
view.follow(() => (choose(view.all()), draw()));
tools(table); // what the grid shows is copied
