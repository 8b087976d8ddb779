// Long tables can be filtered, by a word or (data-choose: the number of a column) by one of its values, and those of
// results sorted. Without this script they are plain tables.
"use strict";

for (const region of document.querySelectorAll(".results.long, .ledger")) {
  const table = region.querySelector("table");
  const body = table.tBodies[0];
  const rows = [...body.rows];

  const label = document.createElement("label");
  label.textContent = "Filter rows ";
  const field = document.createElement("input");
  field.type = "search";
  field.autocomplete = "off";
  label.append(field);
  const status = document.createElement("output");
  const controls = document.createElement("div");
  controls.className = "table-controls";
  controls.append(label, " ");
  const chosen = region.dataset.choose;
  const choice = document.createElement("select");
  if (chosen) {
    const values = rows.map((row) => row.cells[chosen].textContent.trim());
    choice.append(new Option("all", ""), ...[...new Set(values)].sort().map((value) => new Option(value, value)));
    choice.addEventListener("input", () => show());
    const named = document.createElement("label");
    named.append(`${table.tHead.rows[0].cells[chosen].textContent.trim()} `, choice);
    controls.append(named, " ");
  }
  controls.append(status);
  region.before(controls);

  const texts = rows.map((row) => [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase());
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    rows.forEach((row, index) => {
      const other = choice.value && row.cells[chosen].textContent.trim() !== choice.value;
      row.hidden = other || !words.every((word) => texts[index].includes(word));
      count += row.hidden ? 0 : 1;
    });
    status.textContent = `${count} of ${rows.length} rows`;
  };
  field.addEventListener("input", show);
  show();

  if (region.matches(".ledger")) continue; // its order is the article's
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const text = (row) => row.cells[column].textContent;
      const order = (a, b) => text(a).localeCompare(text(b), "en", { numeric: true });
      body.append(...[...rows].sort((a, b) => (down ? order(b, a) : order(a, b))));
    });
  });
}
