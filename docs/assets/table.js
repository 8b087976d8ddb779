// Long tables of results can be filtered and sorted. Without this script they are plain tables.
"use strict";

for (const region of document.querySelectorAll(".results")) {
  const table = region.querySelector("table");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  if (rows.length < 25) continue;

  const label = document.createElement("label");
  label.textContent = "Filter rows ";
  const field = document.createElement("input");
  field.type = "search";
  field.autocomplete = "off";
  label.append(field);
  const status = document.createElement("output");
  const controls = document.createElement("div");
  controls.className = "table-controls";
  controls.append(label, " ", status);
  region.before(controls);

  const texts = rows.map((row) => [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase());
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    rows.forEach((row, index) => {
      row.hidden = !words.every((word) => texts[index].includes(word));
      count += row.hidden ? 0 : 1;
    });
    status.textContent = `${count} of ${rows.length} rows`;
  };
  field.addEventListener("input", show);
  show();

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
