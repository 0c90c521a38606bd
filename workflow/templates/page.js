// Click or press a column's head to sort by it; again to turn round. Empty cells stay last.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => {
        const cell = row.cells[column];
        const text = cell?.dataset.sort ?? cell?.innerText.trim() ?? "";
        // A digest such as 74bb60529db2 is no number, nor is 10.67k: its cell has the value in data-sort.
        const digits = /^[-+]?\.?\d[\d.,]*(e[-+]?\d+)?(?![\w.,])/i.exec(text)?.[0];
        if (text === "") return null;
        return digits ? Number.parseFloat(digits.replace(/,/g, "")) : text.toLowerCase();
      };
      const body = table.tBodies[0];
      const rows = [...body.rows].map((row) => [key(row), row]);
      rows.sort(([a], [b]) => {
        if (a === null || b === null) return (a === null) - (b === null);
        const order = typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
        return down ? -order : order;
      });
      body.append(...rows.map(([, row]) => row));
    });
  });
}
