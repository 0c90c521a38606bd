// The pivot table of one question. The view is kept in the address behind #, so that a link restores it.
const { axes, questions } = JSON.parse(document.getElementById("cells").textContent);
const fields = Object.fromEntries([...document.querySelectorAll("form.pivot select")].map((select) => [select.name, select]));
const table = document.getElementById("pivot");

const options = (select, values, wanted) => {
  select.replaceChildren(...values.map(([value, text]) => new Option(text, value)));
  select.value = values.some(([value]) => value === wanted) ? wanted : values[0][0];
};
const of = (cells, axis) => [...new Set(cells.map((cell) => cell[axis]))].sort((a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b))));
const label = (axis, value) => (value === null ? `no ${axis}` : axis === "S" || axis === "k" ? `${axis} = ${value}` : value);
const mean = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null);
const number = (value) => (value === null ? "" : Math.abs(value) >= 1e4 ? `${Number((value / 1e3).toPrecision(4))}k` : String(Number(value.toPrecision(4))));

// Fill the selects that depend on the question; `view` is what a link asks for.
function choose(view) {
  const crossed = Object.keys(questions).find((name) => ["S", "k"].every((axis) => of(questions[name].cells, axis).length > 2));
  options(fields.question, Object.entries(questions).map(([name, question]) => [name, question.question]), view.question ?? crossed);
  const question = questions[fields.question.value];
  const varied = axes.filter((axis) => of(question.cells, axis).length > 1);
  const offered = (varied.length > 1 ? varied : axes).map((axis) => [axis, axis]);
  options(fields.rows, offered, view.rows ?? "S");
  options(fields.columns, offered, view.columns ?? (offered.find(([axis]) => axis === "k" && axis !== fields.rows.value) ?? offered.find(([axis]) => axis !== fields.rows.value))[0]);
  const others = axes.filter((axis) => ![fields.rows.value, fields.columns.value].includes(axis) && of(question.cells, axis).length > 1);
  const parts = others.flatMap((axis) => of(question.cells, axis).map((value) => [`${axis}:${value}`, label(axis, value)]));
  options(fields.only, [["", parts.length ? `all, a mean over ${others.join(", ")}` : "all"], ...parts], view.only);
  options(fields.measure, question.measures.map((measure) => [measure, measure]), view.measure);
  const rows = of(question.cells, fields.rows.value).map((value) => [String(value), label(fields.rows.value, value)]);
  options(fields.baseline, [["", "nothing"], ...rows], view.baseline);
}

// One place of the grid: the mean of its cells, and the run of the first.
function at(cells, view, row, column) {
  const matching = cells.filter((cell) => cell[view.rows] === row && (view.rows === view.columns || cell[view.columns] === column) && cell[view.measure] !== null);
  return { value: mean(matching.map((cell) => cell[view.measure])), run: matching[0]?.run };
}

// The divisor of a place: the baseline in its column; a baseline without k, such as softmax, serves every k.
function beside(cells, all, view, base, column) {
  const part = view.only.split(":")[0];
  const kept = [...cells, ...all.filter((cell) => view.only && cell[part] === null)];
  const value = at(kept, view, base, column);
  return value.value === null ? at(kept, view, base, null) : value;
}

function place({ value, run }, base) {
  const kept = value === null || (base && !base.value) ? null : base ? value / base.value : value;
  const text = kept === null ? "" : `${number(kept)}${base ? " x" : ""}`;
  const cell = document.createElement("td");
  cell.dataset.sort = kept ?? "";
  cell.append(text && run ? Object.assign(document.createElement("a"), { href: run, className: "ours", textContent: text }) : text);
  return cell;
}

const heading = (text, scope) => Object.assign(document.createElement("th"), { textContent: text, scope });

// The head of a column: a button, as in every table that can be sorted.
function head(text) {
  const cell = heading("", "col");
  cell.append(Object.assign(document.createElement("button"), { type: "button", textContent: text }));
  return cell;
}

const seen = () => Object.fromEntries(Object.entries(fields).map(([name, select]) => [name, select.value]));

function draw() {
  const view = seen();
  const { cells: all } = questions[view.question];
  const cells = all.filter((cell) => !view.only || axes.some((axis) => `${axis}:${cell[axis]}` === view.only));
  const down = of(cells, view.rows);
  const across = view.rows === view.columns ? [undefined] : of(cells, view.columns);
  const base = down.find((row) => String(row) === view.baseline);
  const heads = across.map((column) => head(column === undefined ? view.measure : label(view.columns, column)));
  table.tHead.rows[0].replaceChildren(head(view.rows), ...heads);
  table.tBodies[0].replaceChildren(...down.map((row) => {
    const line = document.createElement("tr");
    const places = across.map((column) => place(at(cells, view, row, column), view.baseline === "" ? null : beside(cells, all, view, base, column)));
    const name = heading(label(view.rows, row), "row");
    name.dataset.sort = row ?? "";
    line.append(name, ...places);
    return line;
  }));
  sortable(table); // of the page's own script, as `tools`
  history.replaceState(null, "", `#${new URLSearchParams(view)}`);
}

const viewInAddress = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
const restore = () => (choose(viewInAddress()), draw());
for (const select of Object.values(fields)) {
  select.addEventListener("change", () => {
    const view = seen();
    choose(select === fields.question ? { question: view.question } : view);
    draw();
  });
}
addEventListener("hashchange", restore);
restore();
tools(table); // what the grid shows is copied
