// What a prediction may cost, chosen on a slider: the recommended model is marked, and the cost drawn into the figure.
const TIMES = { "": 1, k: 1e3, K: 1e3, M: 1e6, G: 1e9 };

const MOST_SHOWN = 5; // alternatives next to the slider

// A cost as people write it, 200,000 or 200k or 2e5 or 0.2M; NaN for anything else.
function readCost(text) {
  const [, digits, suffix] = /^((?:\d{1,3}(?:[,\u202f ]\d{3})+|\d+)(?:\.\d+)?(?:[eE]\+?\d+)?) ?([kKMG]?)$/.exec(text.trim()) ?? [];
  return digits === undefined ? NaN : Number(digits.replaceAll(/[,\u202f ]/g, "")) * TIMES[suffix];
}

for (const section of document.querySelectorAll("section.budget")) {
  const [field, typed] = section.querySelectorAll("input"), rows = [...section.querySelectorAll("tr[data-cost]")];
  const take = section.querySelector(".take"), others = section.querySelector("div.alternatives"), svg = section.querySelector("figure svg"), key = `cost.${section.id}`;
  const costs = rows.map((row) => Number(row.dataset.cost)), ends = [Number(field.min), Number(field.max)].map(Math.log);
  // The axis is logarithmic: two marks that cost different things say where any cost stands.
  const numbers = numbersOf(section.querySelector("figure"));
  const marks = [...svg.querySelectorAll("[data-rows]")].flatMap((group) => {
    const places = group.dataset.rows.split(" ");
    return [...group.querySelectorAll("use")].map((use, order) => [Math.log(valueIn(numbers[places[order]], section.dataset.axis)), Number(use.getAttribute("x"))]);
  });
  const [near, far] = [Math.min, Math.max].map((end) => marks.find(([cost]) => cost === end(...marks.map(([each]) => each))));
  const bar = document.createElementNS(svg.namespaceURI, "line");
  for (const [name, value] of Object.entries({ class: "bar", y1: "8%", y2: "86%" })) bar.setAttribute(name, value);
  svg.append(bar);
  Object.assign(field, { min: ends[0], max: ends[1] });
  field.addEventListener("input", () => view.set({ [key]: Math.exp(field.value).toPrecision(3) }, false));
  typed.addEventListener("change", () => view.set({ [key]: typed.value.trim() || null }));
  field.closest("p").hidden = take.hidden = false;
  view.follow(() => {
    const asked = view.get(key), cost = asked ? readCost(asked) : Number(Math.exp((ends[0] + ends[1]) / 2).toPrecision(2));
    const at = costs.findLastIndex((each) => each <= cost * 1.001);
    rows.forEach((row, number) => row.classList.toggle("chosen", number === at));
    bar.style.display = cost > 0 ? "" : "none";
    // invalid: no number; below: less than the cheapest model takes; found: a model is recommended
    take.dataset.state = cost > 0 ? (at < 0 ? "below" : "found") : "invalid";
    take.classList.toggle("bad", take.dataset.state === "invalid");
    others.hidden = true;
    if (!(cost > 0)) {
      typed.value = asked;
      take.replaceChildren(`“${asked}” is not a number of MACs. Write for example 200000, 200k, 0.2M or 2e5.`);
      return;
    }
    field.value = Math.log(cost);
    typed.value = Number(cost.toPrecision(6)).toLocaleString("en");
    if (at < 0) take.replaceChildren(`No model is this cheap. The cheapest takes ${Number(costs[0].toPrecision(6)).toLocaleString("en")} MACs.`);
    else {
      const [name, , score, why, alternatives] = rows[at].cells, table = alternatives.querySelector("table");
      take.replaceChildren(name.firstChild.cloneNode(true), `: ${score.dataset.label} ${score.firstChild.textContent}`, create("span", { className: "theirs", textContent: why.textContent }));
      const told = (text) => create("p", { className: "note", textContent: text });
      if (!table) others.replaceChildren(told("Every other model for this budget is significantly worse."));
      else {
        const shown = table.cloneNode(true), all = [...shown.tBodies[0].rows];
        for (const row of all.slice(MOST_SHOWN)) row.remove();
        const more = all.length > MOST_SHOWN ? [told(`${all.length - MOST_SHOWN} more in the table below.`)] : [];
        others.replaceChildren(told("Alternatives, not significantly worse on test:"), shown, ...more);
      }
      others.hidden = false;
    }
    const x = far[0] > near[0] ? near[1] + ((Math.log(cost) - near[0]) / (far[0] - near[0])) * (far[1] - near[1]) : near[1];
    bar.setAttribute("x1", x);
    bar.setAttribute("x2", x);
  });
}
