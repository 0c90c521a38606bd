// The grid of one question, turned as one likes. The view stands in the address behind #, so that a link keeps it.
const { axes, questions } = JSON.parse(document.getElementById("cells").textContent);
const fields = Object.fromEntries([...document.querySelectorAll("form.pivot select")].map((one) => [one.name, one]));
const table = document.getElementById("pivot");

const options = (select, values, wanted) => {
  select.replaceChildren(...values.map(([value, text]) => new Option(text, value)));
  select.value = values.some(([value]) => value === wanted) ? wanted : values[0][0];
};
const of = (cells, axis) => [...new Set(cells.map((cell) => cell[axis]))].sort((a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b))));
const label = (axis, value) => (value === null ? `no ${axis}` : axis === "S" || axis === "k" ? `${axis} = ${value}` : value);
const mean = (values) => (values.length ? values.reduce((sum, one) => sum + one, 0) / values.length : null);
const number = (value) => (value === null ? "" : Math.abs(value) >= 1e4 ? `${Number((value / 1e3).toPrecision(4))}k` : String(Number(value.toPrecision(4))));

// Fill the choices that depend on the question; `view` is what a link asks for.
function choose(view) {
  options(fields.question, Object.entries(questions).map(([name, one]) => [name, one.question]), view.question);
  const one = questions[fields.question.value];
  const varied = axes.filter((axis) => of(one.cells, axis).length > 1);
  const offered = (varied.length > 1 ? varied : axes).map((axis) => [axis, axis]);
  options(fields.rows, offered, view.rows);
  options(fields.columns, offered, view.columns ?? offered.find(([axis]) => axis !== fields.rows.value)[0]);
  options(fields.measure, one.measures.map((measure) => [measure, measure]), view.measure);
  const rows = of(one.cells, fields.rows.value).map((value) => [String(value), label(fields.rows.value, value)]);
  options(fields.baseline, [["", "nothing"], ...rows], view.baseline);
}

function draw() {
  const { cells } = questions[fields.question.value];
  const [rows, columns, measure, baseline] = ["rows", "columns", "measure", "baseline"].map((name) => fields[name].value);
  const value = (row, column) => mean(cells.filter((cell) => cell[rows] === row && cell[columns] === column && cell[measure] !== null).map((cell) => cell[measure]));
  const across = rows === columns ? [] : of(cells, columns);
  const head = table.tHead.rows[0];
  const th = (text, scope) => Object.assign(document.createElement("th"), { textContent: text, scope });
  head.replaceChildren(th(rows, "col"), ...(across.length ? across.map((column) => th(label(columns, column), "col")) : [th(measure, "col")]));
  const down = of(cells, rows);
  const base = down.find((row) => String(row) === baseline && baseline !== "");
  table.tBodies[0].replaceChildren(...down.map((row) => {
    const line = document.createElement("tr");
    const places = across.length ? across : [undefined];
    line.append(th(label(rows, row), "row"), ...places.map((column) => {
      const at = (which) => (across.length ? value(which, column) : mean(cells.filter((cell) => cell[rows] === which && cell[measure] !== null).map((cell) => cell[measure])));
      const found = at(row);
      const beside = base === undefined ? 1 : at(base);
      const ratio = found === null || !beside ? null : found / beside;
      return Object.assign(document.createElement("td"), { textContent: base === undefined ? number(found) : ratio === null ? "" : `${number(ratio)} x` });
    }));
    return line;
  }));
  history.replaceState(null, "", `#${new URLSearchParams(Object.entries(fields).map(([name, select]) => [name, select.value]))}`);
}

const asked = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
const restore = () => (choose(asked()), draw());
for (const select of Object.values(fields)) {
  select.addEventListener("change", () => {
    const view = Object.fromEntries(Object.entries(fields).map(([name, one]) => [name, one.value]));
    choose(select === fields.question ? { question: view.question } : view);
    draw();
  });
}
addEventListener("hashchange", restore);
restore();
