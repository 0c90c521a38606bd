// A cell's value for sorting: data-sort where it has that, else its text.
function sortKey(cell) {
  const text = cell?.dataset.sort ?? cell?.innerText.trim() ?? "";
  // A digest such as 74bb60529db2 is no number, nor is 10.67k: its cell has the value in data-sort.
  const digits = /^[-+]?\.?\d[\d.,]*(e[-+]?\d+)?(?![\w.,])/i.exec(text)?.[0];
  if (text === "") return null;
  return digits ? Number.parseFloat(digits.replace(/,/g, "")) : text.toLowerCase();
}

// Click or press a column's head to sort by it; again to reverse. Empty cells stay last.
function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0];
      const rows = [...body.rows].map((row) => [sortKey(row.cells[column]), row]);
      rows.sort(([a], [b]) => {
        if (a === null || b === null) return (a === null) - (b === null);
        const order = typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
        return down ? -order : order;
      });
      body.append(...rows.map(([, row]) => row));
    });
  });
}

// What a table shows, as text: its head and the rows that the filters left.
function shown(table) {
  const rows = [table.tHead.rows[0], ...table.tBodies[0].rows].filter((row) => row.getClientRects().length);
  const text = (cell) => cell.innerText.trim().replace(/\s+/g, " ");
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
    const area = document.body.appendChild(Object.assign(document.createElement("textarea"), { value: text }));
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

// Above a table: a filter for its rows where there are many, and buttons that copy what is shown.
function tools(table) {
  const place = table.closest(".scroll") ?? table;
  const name = place.getAttribute("aria-label") ?? document.title;
  const bar = Object.assign(document.createElement("div"), { className: "tools" });
  const status = Object.assign(document.createElement("span"), { className: "note" });
  status.setAttribute("role", "status");
  if (table.tBodies[0].rows.length >= 8) {
    const input = Object.assign(document.createElement("input"), { type: "search", placeholder: "filter rows" });
    input.setAttribute("aria-label", `Filter the rows of ${name}`);
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/);
      const rows = [...table.tBodies[0].rows];
      for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
      status.textContent = rows.every((row) => row.hidden) ? "no row has these words" : "";
    });
    bar.append(input);
  }
  for (const [format, write] of Object.entries(FORMATS)) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: format });
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

document.querySelectorAll("table.sortable").forEach((table) => (sortable(table), tools(table)));

// On paper nothing can be opened: print how verdicts are reached, but no lists of runs.
addEventListener("beforeprint", () => document.querySelectorAll("#ledger > details").forEach((details) => (details.open = true)));

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
  button.addEventListener("click", () => {
    const wanted = button.getAttribute("aria-pressed") === "true" ? null : button.dataset.verdict;
    verdicts.forEach((other) => other.setAttribute("aria-pressed", String(other.dataset.verdict === wanted)));
    for (const row of document.querySelectorAll("tr[data-verdict]")) row.classList.toggle("off", wanted !== null && row.dataset.verdict !== wanted);
  });
}
