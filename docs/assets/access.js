/* What the theme's script adds to a page, made usable by keyboard and screen reader: wide tables can be scrolled, each
   under a name of its own, and the button beside each block of code is no landmark. */
const mend = () => {
  document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach((frame, number) => {
    const head = [...frame.querySelectorAll("th")].map(cell => cell.textContent.trim()).filter(Boolean).join(", ");
    Object.assign(frame, { tabIndex: 0, role: "region", ariaLabel: `Table ${number + 1}: ${head}` });
  });
  document.querySelectorAll(".md-code__nav:not([role])").forEach(buttons => buttons.setAttribute("role", "none"));
};
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
mend();
// on paper nothing can be unfolded
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(details => { details.open = true; }));
