// The frame of a page: search, what comes before and after, what stands on it, its variants, and the theme. What the pages
// of a report have in common is one file, report.js, that search and neighbours read; a page works without it. The page
// above all reports reads that of each.
const frame = document.querySelector("header.top"), { place: here, up } = document.body.dataset;
const reports = globalThis.REPORTS ?? [], [report = { at: up, kinds: {} }] = reports;
// In a narrow window all but the search is behind one click.
const NARROW = 1024;
const inside = innerWidth < NARROW ? frame.appendChild(create("details", { className: "more" }, create("summary", { textContent: "scale, contents, variants, theme" }))) : frame;
const part = (title, ...children) => {
  const box = create("section", {}, create("h2", { textContent: title }), ...children);
  inside.append(box);
  return box;
};
const link = (address, text) => create("a", { href: address, textContent: text });
const list = (...items) => create("ul", {}, ...items.map((item) => create("li", {}, item)));

// The same page of another scale, where that has it; of a run, whose pages belong to one scale, its question's page.
const SCALES = globalThis.SCALES ?? {}, scale = decodeURIComponent(new URL(`${up || "."}/`, location.href).pathname.split("/").at(-2));
function scales() {
  const place = here.replace(/^(questions\/[^/]+\/).*/, "$1index.html");
  const found = Object.keys(SCALES).filter((name) => SCALES[name].includes(place));
  if (found.length < 2) return;
  const links = found.map((name) => {
    const item = link(`${up}../${encodeURIComponent(name)}/${place}`, name);
    if (name === scale) item.setAttribute("aria-current", "true");
    return item;
  });
  part("Scale", create("div", { className: "choose" }, ...links));
}

// Search: `/` begins, Escape ends, Enter opens the first result. The report of this scale comes first; those of the other
// scales are read when the field is first used.
const EACH = 6; // results of a kind
const several = reports.length > 1;
const nameOfScale = (at) => decodeURIComponent(at.split("/").filter((part) => part && part !== "..").at(-1) ?? "");
const words = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ").trim();
const stem = (word) => (word.length > 4 ? word.replace(/(ies|es|s|ing|ed)$/, "") : word);

// What is searched for: the reader's words, and those with a term of the field written as the pages write it.
function spellings(text) {
  const found = [text];
  for (const [term, others] of Object.entries(report.synonyms ?? {})) {
    const asked = ` ${text} `.match(new RegExp(` ${term}s? `));
    if (asked) found.push(...others.map((other) => ` ${text} `.replace(asked[0], ` ${other} `).trim()));
  }
  return found;
}

// How well an entry answers: 0 not at all; then the words somewhere, in the title, at its beginning, as all of it. One
// letter alone has to be a word. A synonym counts a little less than the reader's own words.
function rank(title, more, spelled) {
  const has = (text, word) => ` ${text} `.includes(word.length > 1 ? ` ${word}` : ` ${word} `);
  const ranks = spelled.map((text, order) => {
    const parts = text.split(" ").map(stem), found = (where) => parts.every((word) => has(where, word));
    const level = title === text ? 4 : title.startsWith(`${text} `) ? 3 : found(title) ? 2 : found(`${title} ${more}`) ? 1 : 0;
    return level && level - (order ? 0.5 : 0);
  });
  return Math.max(...ranks);
}

// The results of a kind over all reports, the best first; of results as good as each other those of this scale.
function resultsOf(kind, spelled) {
  const found = [];
  for (const { at, kinds } of kind === "words" ? [report] : reports) {
    const from = several || at !== report.at ? `scale ${nameOfScale(at)}: ` : "";
    for (const [title, address, more] of kinds[kind] ?? []) {
      const level = rank(words(title), words(`${more} ${kind}`), spelled);
      if (level) found.push({ title, address: address && at + address, more: kind === "words" ? more : `${from}${more}`, level });
    }
  }
  return found.sort((a, b) => b.level - a.level);
}

// Read the reports of the other scales; `then` is called after each.
function readOtherScales(then) {
  if (several) return;
  for (const name of Object.keys(SCALES)) {
    if (name === scale || !SCALES[name].includes("index.html")) continue;
    document.body.append(create("script", { src: `${up}../${encodeURIComponent(name)}/report.js`, onload: then }));
  }
}

function search() {
  const field = create("input", { type: "search", placeholder: "search  /" }), results = create("div", { className: "results" });
  field.setAttribute("aria-label", "Search all reports, this scale first");
  results.setAttribute("role", "status");
  const shown = ({ title, address, more }) => create("span", {}, address ? link(address, title) : create("b", { textContent: title }), more ? create("small", { textContent: ` ${more}` }) : "");
  const find = () => {
    const text = words(field.value);
    results.replaceChildren();
    if (!text) return;
    const spelled = spellings(text), kinds = Object.keys(report.kinds).map((kind) => [kind, resultsOf(kind, spelled)]);
    // The kind with the best result first; words lead nowhere and come last.
    kinds.sort(([one, a], [other, b]) => (one === "words") - (other === "words") || (b[0]?.level ?? 0) - (a[0]?.level ?? 0));
    for (const [kind, found] of kinds) {
      if (found.length) results.append(create("h3", { textContent: found.length > EACH ? `${kind} (${EACH} of ${found.length})` : kind }), list(...found.slice(0, EACH).map(shown)));
    }
    if (!results.children.length) results.append(create("p", { className: "note", textContent: "No result." }));
  };
  field.addEventListener("focus", () => readOtherScales(find), { once: true });
  field.addEventListener("input", find);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") (field.value = ""), find(), field.blur();
    if (event.key === "Enter") results.querySelector("a")?.click();
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
    event.preventDefault();
    field.focus();
  });
  frame.insertBefore(create("div", { className: "search" }, field, results), frame.querySelector("details.more"));
}

// The page before and after this one, in the order of its kind.
function neighbours() {
  const pages = Object.entries(report.kinds).filter(([kind]) => kind !== "pages").map(([, entries]) => entries).find((entries) => entries.some(([, address]) => address === here)) ?? [];
  const at = pages.findIndex(([, address]) => address === here), found = [["previous", pages[at - 1]], ["next", pages[at + 1]]];
  const links = at < 0 ? [] : found.filter(([, page]) => page).map(([word, [title, address]]) => create("span", {}, create("small", { textContent: `${word}: ` }), link(up + address, title)));
  if (links.length) part("Previous and next", list(...links));
}

// What stands on the page.
function contents() {
  const all = [...document.querySelectorAll("main h2, main section.artefact > h3")], named = all.map((head) => head.textContent.trim());
  const heads = all.filter((_, place) => named.indexOf(named[place]) === named.lastIndexOf(named[place]));
  if (heads.length < 3) return;
  const items = heads.map((head, number) => {
    const target = head.closest("section[id]") && head === head.closest("section[id]").querySelector("h2, h3") ? head.closest("section[id]") : head;
    target.id ||= `part-${number + 1}`;
    const item = link(`#${target.id}`, head.textContent);
    if (head.tagName === "H3") item.className = "inner";
    return item;
  });
  part("On this page", list(...items)).classList.add("contents");
}

const MOST = 20; // variants that are offered one by one

// One variant everywhere: chosen here, in a legend or in a row, it is marked in every table and figure, and the rest dimmed.
function variants() {
  const rows = [...document.querySelectorAll("main tbody tr")];
  const named = [...new Set(rows.map((row) => row.dataset.variant).filter(Boolean))];
  if (!named.length) document.querySelectorAll("figure[data-runs]").forEach((each) => named.push(...Object.values(numbersOf(each)).map((row) => row.of).filter((of) => of && !named.includes(of))));
  const names = [...new Set(named)].sort((a, b) => b.length - a.length);
  if (names.length < 2 || names.length > MOST) return;
  for (const row of rows) {
    const text = row.cells[0]?.textContent.trim() ?? "", name = names.find((each) => text === each || text.startsWith(`${each},`) || text.startsWith(`${each} (`));
    if (name) row.dataset.variant ??= name;
    if (row.dataset.variant) row.cells[0].addEventListener("click", (event) => event.target.closest("a, button") || choose(row.dataset.variant));
  }
  const choose = (name) => view.set({ variant: view.get("variant") === name ? null : name });
  const buttons = [...new Set(named)].map((name) => create("button", { type: "button", textContent: name, onclick: () => choose(name) }));
  part("Follow a variant", create("div", { className: "choose" }, ...buttons));
  view.follow(() => {
    const chosen = names.includes(view.get("variant")) ? view.get("variant") : "";
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.textContent === chosen));
    for (const row of rows) row.classList.toggle("dim", chosen !== "" && Boolean(row.dataset.variant) && row.dataset.variant !== chosen);
  });
}

// Another baseline: answer, figure and tables with every variant as the baseline, made with the page. Here one is shown.
function baselines() {
  const tables = [...document.querySelectorAll("script.effects")].map(comparable), answers = [...document.querySelectorAll("[data-baseline]")];
  const every = answers.map((each) => each.dataset.baseline), [first] = every;
  if (every.length < 2) return;
  const field = create("select", {}, ...every.map((name) => new Option(name, name)));
  field.setAttribute("aria-label", "The variant that the others are compared with");
  field.addEventListener("change", () => view.set({ baseline: field.value === first ? null : field.value }));
  part("Compare with", field);
  view.follow(() => {
    const base = every.includes(view.get("baseline")) ? view.get("baseline") : first;
    if (field.value === base && field.dataset.now === base) return;
    field.value = field.dataset.now = base;
    answers.forEach((each) => (each.hidden = each.dataset.baseline !== base));
    document.querySelectorAll("[data-base]").forEach((each) => (each.textContent = base));
    document.querySelectorAll("[data-own]").forEach((each) => (each.hidden = base !== first));
    for (const { compare } of tables) compare(base);
  });
}

// A table of variants with the effects that come right after it: what shows them for a baseline.
function comparable(script) {
  const table = script.previousElementSibling.querySelector("table"), rows = [...table.tBodies[0].rows];
  const pairs = JSON.parse(script.textContent), effects = Object.fromEntries(pairs);
  const head = table.querySelector("th[data-compared] button"), from = head.closest("th").cellIndex;
  const compare = (base) => {
    head.textContent = `difference from ${base}`;
    rows.forEach((row, number) => {
      const found = effects[base]?.[number], cells = [...row.cells].slice(from, from + 3);
      cells.forEach((cell, order) => ((cell.textContent = found?.texts[order] ?? ""), (cell.dataset.sort = found?.sorts[order] ?? "")));
      cells[0].classList.toggle("told", Boolean(found?.told));
    });
  };
  return { compare };
}

// Light, dark, or as the system has it; kept for all pages where the browser allows it.
function themes() {
  const KEY = "theme", kept = () => { try { return localStorage.getItem(KEY) ?? ""; } catch { return ""; } };
  const field = create("select", {}, ...["", "light", "dark"].map((theme) => new Option(theme || "as the system", theme)));
  const apply = (theme) => ((document.documentElement.style.colorScheme = theme), (document.documentElement.dataset.theme = theme));
  field.setAttribute("aria-label", "Theme");
  field.addEventListener("change", () => {
    try { localStorage.setItem(KEY, field.value); } catch { /* the theme holds for this page alone */ }
    apply(field.value);
  });
  field.value = kept();
  apply(field.value);
  part("Theme", field);
}

// The ledger's verdicts on the claims of this page.
for (const place of document.querySelectorAll("[data-claim]")) {
  const [, , verdict] = report.kinds.claims?.find(([, address]) => address === place.dataset.claim) ?? [];
  if (!verdict) continue;
  const [name, other] = verdict.split(" at scale ");
  const badge = create("span", { className: `verdict ${name.replaceAll(" ", "-")}`, textContent: name });
  place.replaceChildren(badge, ` at scale ${other ?? scale}`);
}

if (reports.length) search();
scales();
variants();
baselines();
contents();
neighbours();
themes();
view.arrive();
