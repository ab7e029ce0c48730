"use strict";
(() => {
  const get = (id) => document.getElementById(id);
  const pages = [...document.querySelectorAll(".mail-page")];
  const rows = new Map([...document.querySelectorAll("tr.row")].map((row) => [row.dataset.mail, row]));
  const show = () => {
    const text = get("f-text").value.toLowerCase();
    const kind = get("f-kind").value;
    const severity = get("f-severity").value;
    let shown = 0;
    for (const page of pages) {
      const fits = page.querySelector("h3").textContent.toLowerCase().includes(text)
        && (!kind || page.dataset.kinds.split(" ").includes(kind))
        && (!severity || page.dataset.severity === severity);
      page.hidden = !fits;
      const row = rows.get(page.dataset.mail);
      if (row) row.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    get("f-count").textContent = shown + " of " + pages.length;
  };
  get("filter").hidden = false;
  get("filter").addEventListener("input", show);
  get("filter").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
  show();
})();
