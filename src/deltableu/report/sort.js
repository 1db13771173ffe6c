// A click on a heading sorts its table; without scripts the table stays as it was written.
function sortKey(row, column) {
  const text = row.cells[column].textContent.trim();
  const number = parseFloat(text.replace("−", "-").replace(/^[<>+]/, "").replace(/,(?=\d{3})/g, ""));
  return Number.isNaN(number) ? [1, text.toLowerCase()] : [0, number];
}
function compareKeys([a, x], [b, y]) { return a - b || (x < y ? -1 : x > y ? 1 : 0); }
for (const table of document.querySelectorAll(".sortable table")) {
  const body = table.tBodies[0], headings = [...table.tHead.rows[0].cells];
  if (body.rows.length < 2) continue;
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const up = heading.getAttribute("aria-sort") === "descending"
        || (!heading.hasAttribute("aria-sort") && heading.className !== "right");
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...body.rows].map(row => [sortKey(row, column), row]);
      rows.sort(([a], [b]) => up ? compareKeys(a, b) : compareKeys(b, a));
      body.append(...rows.map(([, row]) => row));
    });
  });
}
// A link into something folded opens it.
function unfold() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  if (target) target.scrollIntoView();
}
addEventListener("hashchange", unfold);
unfold();
