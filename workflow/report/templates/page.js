const create = (name, attributes = {}, ...children) => {
  const element = Object.assign(document.createElement(name), attributes);
  element.append(...children);
  return element;
};

// What the marks of a figure tell, by row: of which variant, names with values, and runs.
function numbersOf(figure) {
  const { names, rows } = JSON.parse(figure.nextElementSibling.textContent);
  const told = (values) => names.map((name, place) => [name, values[place]]).filter(([, value]) => value !== null);
  return Object.fromEntries(Object.entries(rows).map(([row, [of, values, runs, baseline_runs]]) => [row, { of, told: told(values), runs, baseline_runs }]));
}

// A text with its numbers as other programs read them: a hyphen for the minus sign.
const plain = (text) => text.replace(/−(?=[.\d])/g, "-");

// A number that a mark of a figure tells under this name.
const valueIn = (row, name) => Number(plain(row.told.find(([each]) => each === name)?.[1] ?? "NaN").replaceAll(",", ""));

// A cell's value for sorting: data-sort where it has that, else its text.
function sortKey(cell) {
  const text = plain(cell?.dataset.sort ?? cell?.innerText.trim() ?? "");
  // A digest such as 74bb60529db2 is no number, nor is 10.67k: its cell has the value in data-sort.
  const digits = /^[-+]?\.?\d[\d.,]*(e[-+]?\d+)?(?![\w.,])/i.exec(text)?.[0];
  if (text === "") return null;
  return digits ? Number.parseFloat(digits.replace(/,/g, "")) : text.toLowerCase();
}

// By which name the view knows a table.
const nameOf = (table) => (table.closest(".scroll")?.getAttribute("aria-label") ?? "table").toLowerCase().replace(/\W+/g, "-").slice(0, 24);

// Click or press a column's head to sort by it; again to reverse. Empty cells stay last. The view holds the number of the
// column, counted from 1, with a minus where it is turned round.
function sortable(table) {
  const key = `sort.${nameOf(table)}`;
  table.tHead.addEventListener("click", (event) => {
    const head = event.target.closest("button") && event.target.closest("th");
    if (head) view.set({ [key]: `${head.getAttribute("aria-sort") === "ascending" ? "-" : ""}${head.cellIndex + 1}` });
  });
  table.sort = () => {
    const wanted = Number(view.get(key)), sign = Math.sign(wanted);
    [...table.tHead.rows[0].cells].forEach((head, number) => {
      if (number === Math.abs(wanted) - 1) head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    [...table.tBodies].forEach((body) => arrange(body, wanted, sign));
  };
  // The rows of a body; a row that heads a group stays first.
  const arrange = (body, wanted, sign) => {
    const rows = [...body.rows].filter((row) => !row.classList.contains("group"));
    rows.forEach((row, number) => (row.order ??= number));
    const keyed = rows.map((row) => [wanted ? sortKey(row.cells[Math.abs(wanted) - 1]) : row.order, row]);
    keyed.sort(([a, one], [b, other]) => {
      if (a === null || b === null) return (a === null) - (b === null) || one.order - other.order;
      const order = typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
      return (wanted ? sign : 1) * order || one.order - other.order;
    });
    if (keyed.some(([, row], place) => row !== rows[place])) body.append(...keyed.map(([, row]) => row));
  };
  view.follow(table.sort);
}

// What a table shows, as text: its head and the rows that the filters left.
function shown(table) {
  const rows = [table.tHead.rows[0], ...[...table.tBodies].flatMap((body) => [...body.rows])].filter((row) => row.getClientRects().length);
  const text = (cell) => plain(cell.innerText.trim().replace(/\s+/g, " "));
  const wide = (cell) => [text(cell), ...Array(cell.colSpan - 1).fill("")]; // a cell over several columns leaves the others empty
  return rows.map((row) => [...row.cells].filter((cell) => !cell.hidden).flatMap(wide));
}

const LATEX = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}" };
const FORMATS = {
  CSV: (rows) => rows.map((row) => row.map((text) => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)).join(",")),
  LaTeX: (rows) => {
    const lines = rows.map((row) => `${row.map((text) => text.replace(/[\\~^&%$#_{}]/g, (sign) => LATEX[sign] ?? `\\${sign}`)).join(" & ")} \\\\`);
    const columns = "l" + "r".repeat(rows[0].length - 1);
    return [`\\begin{tabular}{${columns}}`, "\\toprule", lines[0], "\\midrule", ...lines.slice(1), "\\bottomrule", "\\end{tabular}"];
  },
  Markdown: (rows) => {
    const lines = rows.map((row) => `| ${row.map((text) => text.replaceAll("|", "\\|")).join(" | ")} |`);
    return [lines[0], `|${" --- |".repeat(rows[0].length)}`, ...lines.slice(1)];
  },
};

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page read from a disk may have no access to the clipboard: copy from a selected text area.
    const area = document.body.appendChild(create("textarea", { value: text }));
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

// Above a table: a filter for its rows where there are many, and buttons that copy what is shown.
function tools(table) {
  const place = table.closest(".scroll") ?? table;
  const name = place.getAttribute("aria-label") ?? document.title;
  const bar = create("div", { className: "tools" });
  const status = create("span", { className: "note" });
  status.setAttribute("role", "status");
  if (table.tBodies[0].rows.length >= 8) {
    const input = create("input", { type: "search", placeholder: "filter rows" });
    input.setAttribute("aria-label", `Filter the rows of ${name}`);
    const key = `filter.${nameOf(table)}`;
    input.addEventListener("input", () => view.set({ [key]: input.value || null }, false));
    view.follow(() => {
      if (input.value !== view.get(key)) input.value = view.get(key);
      const words = plain(input.value.toLowerCase()).split(/\s+/);
      const rows = [...table.tBodies[0].rows];
      for (const row of rows) row.hidden = !words.every((word) => plain(row.textContent.toLowerCase()).includes(word));
      status.textContent = rows.every((row) => row.hidden) ? "no row has these words" : "";
    });
    bar.append(input);
  }
  for (const [format, write] of Object.entries(FORMATS)) {
    const button = create("button", { type: "button", textContent: format });
    button.setAttribute("aria-label", `Copy ${name} as ${format}`);
    button.addEventListener("click", async () => {
      await copy(`${write(shown(table)).join("\n")}\n`);
      status.textContent = `${format} copied`;
    });
    bar.append(button);
  }
  bar.append(status);
  place.before(bar);
}

// A button that copies a link to a figure or table, as the reader sees it.
function linkable(part) {
  part.id ||= `part-${nameOf(part.querySelector("table"))}`;
  const title = part.querySelector("h3")?.textContent ?? part.getAttribute("aria-label") ?? document.title;
  const status = create("span", { className: "note" }), button = create("button", { type: "button", className: "copy-link", textContent: "copy link" });
  status.setAttribute("role", "status");
  button.setAttribute("aria-label", `copy link to ${title}`);
  button.addEventListener("click", async () => {
    const hash = new URLSearchParams({ ...view.all(), at: part.id });
    await copy(`${location.href.split("#")[0]}#${hash}`);
    status.textContent = "link copied";
  });
  const before = part.previousElementSibling, bar = part.querySelector(".files") ?? part.querySelector(".tools") ?? (before?.matches(".tools") ? before : null);
  if (bar) bar.append(button, status);
  else if (part.matches("section")) part.append(create("p", { className: "files" }, button, status));
  else part.before(create("div", { className: "tools" }, button, status));
}

// What is open, by its number on the page as it was made, before anything is sorted; only what a reader opened or closed differs from the page as it was made.
let printing = false;
const foldable = [...document.querySelectorAll("main details")], usual = foldable.map((each) => each.open);
const turned = () => foldable.flatMap((each, number) => (each.open === usual[number] ? [] : [number + 1])).join(",");
foldable.forEach((each) => each.addEventListener("toggle", () => turned() === view.get("open") || printing || view.set({ open: turned() || null })));
view.follow(() => {
  const wanted = view.get("open").split(",").map(Number);
  foldable.forEach((each, number) => (each.open = usual[number] !== wanted.includes(number + 1)));
});

document.querySelectorAll("table.sortable").forEach((table) => (sortable(table), tools(table)));
document.querySelectorAll("section.artefact:has(table, figure)").forEach(linkable);
document.querySelectorAll(".scroll").forEach((each) => each.closest(".artefact, details") || !each.querySelector("table") || linkable(each));

// On paper nothing can be opened: print how verdicts are reached, but no lists of runs.
addEventListener("afterprint", () => (printing = false));
addEventListener("beforeprint", () => (printing = true) && document.querySelectorAll("#ledger > details").forEach((details) => (details.open = true)));

// A note opens under its mark, inside the window: a table that scrolls would cut it off.
function place(tip) {
  const [mark, note] = [tip.getBoundingClientRect(), tip.firstElementChild];
  note.style.top = `${mark.bottom}px`;
  note.style.left = `${Math.max(8, Math.min(mark.left, innerWidth - note.offsetWidth - 8))}px`;
}
document.querySelectorAll(".tip").forEach((tip) => ["pointerenter", "focus"].forEach((event) => tip.addEventListener(event, () => place(tip))));

// A table that is wider than the paper is printed smaller, so that it is printed whole. PAPER: A4 across without its
// margins, in the pixels of CSS; what is measured is the window's, a fifth larger than print.
const PAPER = 1030;
addEventListener("beforeprint", () => document.querySelectorAll(".scroll > table").forEach((table) => (table.style.zoom = Math.min(1, PAPER / table.scrollWidth))));
addEventListener("afterprint", () => document.querySelectorAll(".scroll > table").forEach((table) => (table.style.zoom = "")));

// The ledger by verdict: a button shows the claims with its verdict alone; pressed again, all claims.
const verdicts = [...document.querySelectorAll("button.verdict")];
for (const button of verdicts) {
  button.addEventListener("click", () => view.set({ verdict: view.get("verdict") === button.dataset.verdict ? null : button.dataset.verdict }));
}
view.follow(() => {
  const wanted = view.get("verdict");
  verdicts.forEach((other) => other.setAttribute("aria-pressed", String(other.dataset.verdict === wanted)));
  for (const row of document.querySelectorAll("tr[data-verdict]")) row.classList.toggle("off", wanted !== "" && row.dataset.verdict !== wanted);
});
