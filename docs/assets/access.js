/* What the theme's script adds to a page, made usable by keyboard and screen reader: wide tables can be scrolled, each
   under a name of its own, and the button beside each block of code is no landmark. */
const mend = () => {
  document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex], .results *)").forEach((frame, number) => {
    const head = [...frame.querySelectorAll("th")].map(cell => cell.textContent.trim()).filter(Boolean).join(", ");
    Object.assign(frame, { tabIndex: 0, role: "region", ariaLabel: `Table ${number + 1}: ${head}` });
  });
  document.querySelectorAll(".md-code__nav:not([role])").forEach(buttons => buttons.setAttribute("role", "none"));
};
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
mend();
// on paper nothing can be unfolded
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(details => { details.open = true; }));
// the status page holds no date of its own; what continuous integration notes beside the pages is shown in it
const verified = document.getElementById("verified");
if (verified && location.protocol !== "file:") {
  fetch(verified.dataset.from).then(answer => answer.json()).then(({ verified: when, platform, ...versions }) => {
    const named = Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(", ");
    verified.textContent = when ? `Last verified ${when.slice(0, 16).replace("T", " ")} UTC with ${named}, on ${platform}.`
      : "This copy of the site was built without being verified by continuous integration.";
  }).catch(() => {}); // not there: the link above says where it should be
}
